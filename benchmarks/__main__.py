"""Runs every benchmark, one after the other, each in a process of its own. See `make bench`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    scripts = sorted(path for path in HERE.glob("*.py") if not path.name.startswith("_"))
    failed = []
    for script in scripts:
        sys.stdout.write(f"\n== {script.stem.replace('_', ' ')}\n")
        sys.stdout.flush()
        if subprocess.run([sys.executable, "-m", f"benchmarks.{script.stem}"]).returncode:  # noqa: S603
            failed.append(script.name)
    if failed:
        sys.stderr.write(f"These did not end: {', '.join(failed)}\n")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
