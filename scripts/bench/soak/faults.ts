/** One fault every few minutes, in turns. None of them ends a process that is looked at. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server, Stack } from '../stack.ts';

/** minutes between two faults; a short run has six all the same */
const every = 3;
const atLeast = 6;
/** milliseconds */
const frozenFor = 4_000;

type StartWorker = () => Promise<Server>;

export async function performFaults(until: number, minutes: number, stack: Stack, startWorker: StartWorker) {
  let second = await startWorker();
  const freeze = async (pid: number) => {
    process.kill(pid, 'SIGSTOP');
    try {
      await sleep(frozenFor);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  };
  const faults: Record<string, () => Promise<unknown>> = {
    'the second worker is killed': async () => {
      await second.stop('SIGKILL');
      second = await startWorker();
    },
    'Redis freezes': () => freeze(stack.pids.Redis),
    'Postgres drops all connections': () =>
      stack.db.run(
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      ),
    'Redis drops all connections': () => stack.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
    'Postgres writes its checkpoint': () => stack.db.run((sql) => sql`checkpoint`),
  };
  const pause = Math.min(every, minutes / atLeast) * 60_000;
  for (let at = 0; performance.now() + pause < until; at += 1) {
    await sleep(pause);
    const [name, perform] = Object.entries(faults)[at % Object.keys(faults).length] ?? [];
    console.log(`${new Date().toISOString()}  ${name}`);
    await perform?.();
  }
}
