/**
 * Postgres on a Unix socket. Its folder is written in three ways: as the parameter `host` after an empty host, as the
 * parameter `host` that overrides the host before it, or percent-encoded as the host. Our code reads one of them: the
 * parameter `host` after `localhost`, the only one that is a valid address for Node and for the driver.
 */

const spelled = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/**
 * Rewrites a socket's address that way. If only the parameter `host` names a host, moves that host, and the user, password
 * and port among the parameters, to their usual place. Any other address stays as it is.
 */
export function withSocketSpelled(given: string): string {
  const [, scheme = '', user, authority = '', database = '', parameters = ''] = spelled.exec(given) ?? [];
  const query = new URLSearchParams(parameters);
  const [, encoded = '', ownPort] = /^(.*?)(?::(\d*))?$/.exec(authority) ?? [];
  const folder = encoded.toLowerCase().startsWith('%2f') ? decode(encoded) : query.get('host');
  const isElsewhere = encoded !== '' && !folder?.startsWith('/');
  if (!folder || isElsewhere) return given;
  const take = (name: string): string | undefined => {
    const value = query.get(name) ?? undefined;
    query.delete(name);
    return value;
  };
  take('host');
  const name = take('user');
  const password = take('password');
  const port = take('port') ?? ownPort;
  const login = name === undefined ? user : [name, password ?? ''].map(encodeURIComponent).join(':');
  const isSocket = folder.startsWith('/');
  if (isSocket) query.set('host', folder);
  const search = query.size > 0 ? `?${query}` : '';
  return `${scheme}${login ? `${login}@` : ''}${isSocket ? 'localhost' : folder}${port ? `:${port}` : ''}${database}${search}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Why no driver could open the socket; undefined if it can. */
export function faultOfSocket(address: string): string | undefined {
  const { port, searchParams: query } = new URL(address);
  const folder = query.get('host');
  if (folder === null) return undefined;
  if (!/^\/[^,:]*$/.test(folder))
    return 'an address whose host is before the database, or a folder with the socket of Postgres, such as host=/var/run/postgresql';
  const path = `${folder}/.s.PGSQL.${port || 5432}`;
  return Buffer.byteLength(path) > 107 ? 'an address whose socket has a path of at most 107 bytes' : undefined;
}
