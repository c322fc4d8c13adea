/** The run_id of the server that holds a key. It changes with each start, and so does what the server is sure to have. */
import calculateSlot from 'cluster-key-slot';
import type { Cluster, Redis } from 'ioredis';

/** milliseconds */
const askAgainAfter = 200;

/**
 * INFO is the first command after each connect, so its answer comes before any other: what a read compares with is
 * always the run_id of the server that answered the read.
 */
export function followRunId(client: Redis): (key: string) => string | undefined {
  let runId: string | undefined;
  const ask = () => {
    client.info('server').then(
      (info) => {
        runId = /^run_id:(\w+)/m.exec(info)?.[1];
      },
      () => {
        // a short stall must not leave it unknown for the lifetime of the connection
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
    // nodes connect on first use, but their run_id is needed before
    if (node.status === 'wait') node.connect().catch(() => {});
  });
  return (key) => {
    const master = cluster.slots[calculateSlot(key)]?.[0];
    return master ? nodes.get(master)?.(key) : undefined;
  };
}
