import os
import subprocess
import sys
import types

import pytest

import heedful.registry as registry_module
from heedful.errors import UsageError
from heedful.registry import Registry, load_entry_points, load_plugin, presets, problems


@pytest.fixture
def room(monkeypatch) -> Registry:
    """A registry whose room is an empty package made for the test."""
    package = types.ModuleType("some_room")
    package.__path__ = []
    monkeypatch.setitem(sys.modules, "some_room", package)
    return Registry("thing", "some_room", retired={"old_thing": "thing_one"})


def make_one() -> str:
    """The first of things.

    More about it.
    """
    return "one"


def make_other() -> str:
    return "other"


def test_a_thing_is_found_by_its_name_and_described_by_its_first_line(room) -> None:
    room.register("thing_one")(make_one)
    assert room.get("thing_one")() == "one"
    assert room.describe("thing_one") == "The first of things."


def test_an_unknown_name_is_an_error_that_names_the_nearest(room) -> None:
    room.register("thing_one")(make_one)
    with pytest.raises(UsageError) as caught:
        room.get("thing_on")
    assert str(caught.value) == (
        "no thing named 'thing_on'. Close: thing_one. All 1: heedful list things"
    )


def test_a_name_taken_twice_is_an_error_that_names_both_places(room) -> None:
    room.register("thing_one")(make_one)
    room.register("thing_one")(make_one)  # the same file read twice is no clash
    with pytest.raises(UsageError, match="make_one.*make_other"):
        room.register("thing_one")(make_other)


def test_names_come_in_natural_order_and_match_patterns(room) -> None:
    for name in ("layer10", "layer2", "other"):
        room.register(name)(make_one)
    assert room.names() == ["layer2", "layer10", "other"]
    assert room.names("layer*") == ["layer2", "layer10"]


def test_a_retired_name_says_what_to_ask_for(room) -> None:
    with pytest.raises(UsageError, match="Here it is: thing_one"):
        room.get("old_thing")


def test_every_retired_name_leads_to_one_that_is_there() -> None:
    for registry in (presets, problems):
        assert registry.retired
        for name, ours in registry.retired.items():
            assert ours in registry.names()
            with pytest.raises(UsageError, match=f"Here it is: {ours}"):
                registry.get(name)


def test_a_room_is_walked_so_a_new_file_is_found_by_existing(tmp_path, monkeypatch) -> None:
    package = tmp_path / "walked_room"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "leaf.py").write_text(
        "import walked\n\n@walked.room.register('leaf')\ndef leaf():\n    '''A leaf.'''\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    holder = types.ModuleType("walked")
    holder.room = Registry("leaf", "walked_room")
    monkeypatch.setitem(sys.modules, "walked", holder)
    assert holder.room.names() == ["leaf"]


def test_a_room_that_does_not_import_says_so_each_time(tmp_path, monkeypatch) -> None:
    package = tmp_path / "torn_room"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "leaf.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    torn = Registry("leaf", "torn_room")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError):
            torn.names()


def test_a_plugin_is_loaded_by_name_and_a_missing_one_explained(tmp_path, monkeypatch) -> None:
    (tmp_path / "good_plugin.py").write_text("loaded = True\n")
    (tmp_path / "needy_plugin.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    load_plugin("good_plugin")
    assert sys.modules["good_plugin"].loaded
    with pytest.raises(UsageError, match="no module named 'bad_plugin'"):
        load_plugin("bad_plugin")
    with pytest.raises(UsageError, match="needs a module that is missing: no_such_module_at_all"):
        load_plugin("needy_plugin")


class Entry:
    name, value = "torn", "torn:plugin"

    def load(self) -> None:
        raise RuntimeError("boom")


def test_an_installed_plugin_that_does_not_load_is_named(monkeypatch) -> None:
    monkeypatch.setattr(registry_module, "_entry_points_loaded", False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Entry()])
    with pytest.raises(UsageError, match=r"plug-in 'torn' \(torn:plugin\) does not load: boom"):
        load_entry_points()


def test_an_installed_package_joins_by_its_entry_point(tmp_path) -> None:
    """A real distribution on the path, in a process of its own: found without --plugin."""
    (tmp_path / "joining_package.py").write_text(
        "from heedful.presets.transformer import tiny\n"
        "from heedful.registry import presets\n\n"
        "@presets.register('joined_small')\n"
        "def joined():\n    '''From another package.'''\n    return tiny()\n"
    )
    info = tmp_path / "joining_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: joining-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[heedful.plugins]\njoining = joining_package\n")
    listed = subprocess.run(
        [sys.executable, "-m", "heedful", "list", "presets", "joined_*"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.split(maxsplit=1) == ["joined_small", "From another package.\n"]
