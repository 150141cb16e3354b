// A worker that tells its keeper what it does: tend run -- node worker.mjs [ROUNDS]
import { setTimeout as sleep } from 'node:timers/promises';

import { Keeper } from './tend.mjs';

const rounds = Number(process.argv[2] ?? 1000);
const keeper = new Keeper();
console.log(`worker: ${keeper.agent}, life ${keeper.life}`);
keeper.beatEvery(30_000);
await keeper.ack();
await keeper.state('working');
for (let number = 0; number < rounds; ++number) {
  await sleep(10); // here is yours
  console.log(`worker: round ${number} done`);
}
await keeper.state('exiting');
