/** How busy the connections to Postgres are: read when they are scraped. */
import { Gauge, type Registry } from 'prom-client';

interface Pool {
  /** how many queries and transactions are under way or wait for a connection */
  running(): number;
  connections: number;
}

export function createPoolGauges(register: Registry, pools: Record<string, Pool>): void {
  // of several processes behind one port the fullest
  const shared = { registers: [register], aggregator: 'max' as const };
  const connections = new Gauge({
    name: 'assent_postgres_connections',
    help: 'Connections that a pool may have, by pool',
    labelNames: ['pool'],
    ...shared,
  });
  const running = new Gauge({
    name: 'assent_postgres_running',
    help: 'Queries and transactions that are under way or wait for a connection, by pool',
    labelNames: ['pool'],
    ...shared,
    collect: () => {
      for (const [pool, each] of Object.entries(pools)) running.set({ pool }, each.running());
    },
  });
  for (const [pool, each] of Object.entries(pools)) connections.set({ pool }, each.connections);
}
