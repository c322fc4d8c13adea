/** The run_id of the server that holds a key. It changes with each start, after which the server may lack data. */
import calculateSlot from 'cluster-key-slot';
import type { Cluster, Redis } from 'ioredis';

/** milliseconds */
const askAgainAfter = 200;

/**
 * INFO is the first command after each connect, so its reply comes before any other: a read is always compared with the
 * run_id of the server that replied to it.
 */
export function followRunId(client: Redis): (key: string) => string | undefined {
  let runId: string | undefined;
  const ask = () => {
    client.info('server').then(
      (info) => {
        runId = /^run_id:(\w+)/m.exec(info)?.[1];
      },
      () => {
        // after a short stall it must not stay unknown for the lifetime of the connection
        if (client.status === 'ready') setTimeout(ask, askAgainAfter);
      },
    );
  };
  client.on('ready', ask);
  client.on('close', () => {
    runId = undefined;
  });
  return () => runId;
}

export function followClusterRunIds(cluster: Cluster): (key: string) => string | undefined {
  const nodes = new Map<string, (key: string) => string | undefined>();
  cluster.on('+node', (node: Redis) => {
    nodes.set(`${node.options.host}:${node.options.port}`, followRunId(node));
    // nodes connect on first use, but their run_id is needed earlier
    if (node.status === 'wait') node.connect().catch(() => {});
  });
  return (key) => {
    const master = cluster.slots[calculateSlot(key)]?.[0];
    return master ? nodes.get(master)?.(key) : undefined;
  };
}
