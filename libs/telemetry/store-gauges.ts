/** How the stores are, as this process saw them last: read when they are scraped. */
import { Gauge, type Registry } from 'prom-client';

interface Stores {
  isPostgresUsable(): boolean;
  /** the share of maxmemory that Redis uses; null where it does not answer */
  redisMemory(): number | null;
}

export function createStoreGauges(register: Registry, { isPostgresUsable, redisMemory }: Stores): void {
  const registers = [register];
  const postgres = new Gauge({
    name: 'assent_postgres_usable',
    help: '1 while Postgres answers this process',
    // of several processes behind one port the worst
    aggregator: 'min',
    registers,
    collect: () => {
      postgres.set(isPostgresUsable() ? 1 : 0);
    },
  });
  const memory = new Gauge({
    name: 'assent_redis_memory_used_ratio',
    help: 'Share of maxmemory that Redis uses, of the fullest master; 0 without maxmemory',
    aggregator: 'max',
    registers,
    collect: () => {
      const share = redisMemory();
      if (share === null) memory.remove();
      else memory.set(share);
    },
  });
}
