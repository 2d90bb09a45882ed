"""Lines in, lines out."""

import os
import stat
from pathlib import Path

import pytest

from heedful.cli.lines import one_line, reading, writing
from heedful.errors import HeedfulError


def test_a_file_appears_only_when_all_went_well(tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    place.write_text("what was there\n")
    with pytest.raises(ZeroDivisionError), writing(place) as write:
        write("half")
        raise ZeroDivisionError
    assert place.read_text() == "what was there\n"
    assert list(tmp_path.iterdir()) == [place]
    with writing(place) as write:
        write("élan")
        assert place.read_text() == "what was there\n"
    assert place.read_text(encoding="utf-8") == "élan\n"


def test_a_new_file_has_the_rights_any_program_would_give_it(tmp_path: Path) -> None:
    with writing(tmp_path / "ours") as write:
        write("x")
    (tmp_path / "theirs").touch()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "theirs")]
    assert modes[0] == modes[1]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with writing(tmp_path / "link") as write:
        write("x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "x\n"


def test_a_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    # A pipe stands for /dev/null and its like: to try those would risk them.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with writing(pipe) as write:
            write("x")
        assert stat.S_ISFIFO(pipe.stat().st_mode) and os.read(reader, 10) == b"x\n"
    finally:
        os.close(reader)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(HeedfulError, match="cannot write .*absent/out.txt"),
        writing(tmp_path / "absent" / "out.txt"),
    ):
        pass


def test_no_lines_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with reading(tmp_path / "empty") as lines:
        assert list(lines) == []


def test_bad_bytes_are_found_before_the_first_line_is_given(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"good\nb\xffd\n")
    with pytest.raises(HeedfulError, match="line 2"), reading(tmp_path / "bad"):
        pytest.fail("the first line was given")


@pytest.mark.parametrize("ends", ["a\nb", "a\r\nb", "a\rb", "a b"])
def test_a_line_break_inside_a_text_is_written_as_a_space(ends: str) -> None:
    assert one_line(ends) == "a b"
