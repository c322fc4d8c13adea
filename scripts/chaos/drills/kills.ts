/** What CI runs: our processes and both stores are killed, and the sealer where it hurts most. */
import { untilSealed } from '../checkpoints.ts';
import type { Drill } from '../drill.ts';
import { lockTable } from '../faults.ts';
import type { PlannedFault } from '../random/plan.ts';
import { readAlong } from '../reads.ts';
import type { Scene } from '../scene.ts';
import { perform, startSystem } from '../system.ts';

const killed = (part: string, from: number, to: number): PlannedFault => ({ part, what: 'kill', from, to });

const inTurn = [
  ...[killed('api-1', 1, 2), killed('worker-1', 2, 3), killed('redis', 3, 4), killed('worker-2', 3, 4)],
  ...[killed('redis', 5, 6), killed('postgres', 7, 10)],
  // both at once
  ...[killed('redis', 12, 15), killed('postgres', 12, 15)],
];

/** Both workers are killed while they hold jobs, and once more after they have taken them over from each other. */
const twice = [
  { part: 'postgres', what: 'lock', from: 1, to: 24 },
  ...[killed('worker-1', 3, 4), killed('worker-2', 3, 4), killed('worker-1', 21, 22), killed('worker-2', 21, 22)],
];

const killInTurn = (plan: PlannedFault[]) => async (scene: Scene) => {
  const parts = await startSystem(scene);
  scene.alongside(readAlong(scene));
  await perform(parts, plan);
};

/** What sealing changes, in this order: held back there, it has closed an epoch, is between runs, folds, or has signed. */
const steps = ['derivations', 'log_runs', 'log_nodes', 'logs', 'log_keys'] as const;

async function killSealer(scene: Scene): Promise<void> {
  let { worker } = await scene.begin();
  await untilSealed(scene);
  for (const step of steps) {
    const release = await lockTable(scene, step);
    const isHeldBack = async () =>
      (await scene.count(
        (sql) => sql`
          select count(*)::int as n from pg_locks join pg_stat_activity using (pid)
          where not granted and relation = ${step}::regclass and application_name = 'assent-worker'`,
      )) > 0;
    await scene.until(isHeldBack, `sealing comes to ${step}`);
    await scene.kill(worker);
    await release();
    worker = await scene.worker();
    await untilSealed(scene);
  }
}

export const killDrills: Drill[] = [
  {
    name: 'kills',
    quick: true,
    about: 'kill -9 of an API, workers, Redis twice, Postgres, and both stores at once',
    run: killInTurn(inTurn),
  },
  {
    name: 'sealer-kills',
    quick: true,
    about: 'kill -9 of the worker at every step of sealing',
    run: killSealer,
  },
  {
    name: 'worker-kills',
    about: 'kill -9 of both workers, twice in a row, while they hold the same jobs',
    run: killInTurn(twice),
  },
];
