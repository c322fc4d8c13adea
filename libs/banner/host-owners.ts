/** Owners and kinds of hosts, by the list of third-party-web, which is part of the build. */
import type { HostOwner } from '#libs/widget/site-check';

let known: Promise<Map<string, HostOwner>> | undefined;

/** Read on first use: most installations never check a site. */
async function readList(): Promise<Map<string, HostOwner>> {
  const { default: entities } = await import('third-party-web/dist/entities-nostats.json', { with: { type: 'json' } });
  return new Map(
    entities.flatMap(({ name, company, category, domains }) =>
      domains.map((domain): [string, HostOwner] => [domain, { owner: company ?? name, kind: category }]),
    ),
  );
}

/** Null for a host that is not in the list. An entry `*.example.com` also stands for `example.com`. */
export async function ownersOf(hosts: string[]): Promise<(HostOwner | null)[]> {
  known ??= readList();
  const list = await known;
  return hosts.map((given) => {
    const host = given.toLowerCase();
    const exact = list.get(host);
    if (exact) return exact;
    const labels = host.split('.');
    for (let at = 0; at < labels.length - 1; at += 1) {
      const owner = list.get(`*.${labels.slice(at).join('.')}`);
      if (owner) return owner;
    }
    return null;
  });
}
