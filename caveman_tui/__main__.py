"""`python -m caveman_tui` is `caveman-tui`."""

from caveman_tui.cli import main

if __name__ == "__main__":
    main()
