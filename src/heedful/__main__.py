"""`python -m heedful` is `heedful`."""

import sys

from heedful.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
