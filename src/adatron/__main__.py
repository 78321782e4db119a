"""Run the command line tool: `python -m adatron`."""

import sys

from .cli import main

sys.exit(main())
