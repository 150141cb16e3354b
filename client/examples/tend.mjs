// Speaking to the keeper from Node, which cannot call a C library by itself. A beat is the time of
// the file `.beat`, so it needs no process; what is said rarely is said by the `tend` command, which
// knows all the rules.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class Keeper {
  #beat;

  /// Throws outside an agent.
  constructor(environment = process.env) {
    this.folder = environment.TEND_INFRA;
    this.life = Number(environment.TEND_LIFE);
    this.agent = environment.TEND_AGENT;
    if (!this.folder) throw new Error('not inside a kept agent: TEND_INFRA is not set');
    const { O_RDONLY, O_NOFOLLOW } = fs.constants;
    this.#beat = fs.openSync(path.join(this.folder, '.beat'), O_RDONLY | O_NOFOLLOW);
  }

  /// I live. False once another life runs: then stop, somebody else does this work now.
  beat() {
    if (!this.#isCurrent()) return false;
    const now = new Date();
    fs.futimesSync(this.#beat, now, now);
    return true;
  }

  /// Beats by itself for as long as the event loop turns; a loop that hangs falls silent, as it
  /// should. The timer does not keep the program running.
  beatEvery(milliseconds = 30_000) {
    this.beat();
    const timer = setInterval(() => this.beat() || clearInterval(timer), milliseconds);
    return timer.unref();
  }

  /// keeper.state('idle', '15m')
  async state(state, until) {
    await run('tend', until ? ['state', state, '--until', until] : ['state', state]);
  }

  async ack(id) {
    await run('tend', id ? ['ack', id] : ['ack']);
  }

  #isCurrent() {
    try {
      const record = fs.readFileSync(path.join(this.folder, '.lock'), 'utf8').slice(0, 1024);
      return JSON.parse(record).life === this.life;
    } catch {
      return true; // what cannot be read proves nothing
    }
  }
}
