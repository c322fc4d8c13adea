/** The machine's Prometheus, or Debian's. */
import { findProgram, type Program } from './packages.ts';
import { type RunningServer, startServer } from './server.ts';

const find = (name: 'prometheus' | 'promtool'): Promise<Program> =>
  findProgram({ say: console.log, names: [name], packages: ['prometheus'] });

export const findPromtool = (): Promise<Program> => find('promtool');

/** `config`: a file in `dataDir`, in which rules and all else that it names are looked for. */
export async function startPrometheus(dataDir: string, config: string): Promise<RunningServer> {
  const { binary, env } = await find('prometheus');
  return startServer({
    name: 'Prometheus',
    dataDir,
    command: binary,
    argumentsOf: (port) => [
      `--config.file=${config}`,
      `--storage.tsdb.path=${dataDir}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    tether: { env },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    probe: async (url) => {
      const { status } = await fetch(`${url}/-/ready`);
      if (status !== 200) throw new Error(`it answers ${status}`);
    },
  });
}
