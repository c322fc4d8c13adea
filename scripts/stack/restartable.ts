/** A private server that is taken away and started again, on its port and with its data. */
import type { RunningServer } from './server.ts';

export type Restartable = Pick<ReturnType<typeof restartable>, 'running' | 'start'>;

export function restartable<Server extends RunningServer>(first: Server, again: (port: number) => Promise<Server>) {
  let server = first;
  return {
    url: first.url,
    port: first.port,
    running: () => server,
    kill: async () => {
      server.kill();
      await server.exited;
    },
    start: async () => {
      server = await again(first.port);
    },
    /** Another one takes its place, such as a promoted replica. */
    become: (other: Server) => {
      server = other;
    },
  };
}
