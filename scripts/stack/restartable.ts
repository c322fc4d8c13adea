/** A private Redis that is killed and started again, on its port and with its data. */
import type { RunningRedis } from './redis.ts';

export async function restartable(start: (port?: number) => Promise<RunningRedis>) {
  let running = await start();
  const { url, port } = running;
  return {
    url,
    port,
    pid: () => running.pid,
    kill: async () => {
      running.kill();
      await running.exited;
    },
    start: async () => {
      running = await start(port);
    },
  };
}
