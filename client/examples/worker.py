"""A worker that tells its keeper what it does: tend run -- python3 worker.py [ROUNDS]"""

import sys
import time

import tend


def work(number):
    time.sleep(0.01)  # here is yours
    print(f"worker: round {number} done")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tend.Client() as keeper:
        print(f"worker: {keeper.agent}, life {keeper.life}")
        keeper.ack()
        keeper.state("working")
        for number in range(rounds):
            keeper.beat()
            work(number)
        keeper.state("exiting")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"worker: {error.strerror}")
