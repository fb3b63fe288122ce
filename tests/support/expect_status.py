"""`expect_status.py STATUS COMMAND...`: passes when the command exits with STATUS.

Its stdout and stderr are passed on. A traceback on stderr fails whatever the status is.
"""

import subprocess
import sys


def main(arguments: list[str]) -> int:
    wanted, command = int(arguments[0]), arguments[1:]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(done.stderr)
    if done.returncode != wanted:
        print(f"expect_status: exit status {done.returncode}, not {wanted}", file=sys.stderr)
        return 1
    if "Traceback (most recent call last)" in done.stderr:
        print("expect_status: a traceback on stderr", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
