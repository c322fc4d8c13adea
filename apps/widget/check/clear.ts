/** Makes this browser a new visitor of the site, as far as a script can. */
import { cookieNames, forget } from '../forget-cookies.ts';

/** Unsent decisions, also of other domains on this origin. */
const unsent = /^assent\..*\.queue\./;
/** Milliseconds: a database that the page has open is deleted only after the page closes it. */
const patience = 1_000;

export async function clearSite(): Promise<void> {
  for (const name of cookieNames()) forget(name, []);
  sessionStorage.clear();
  for (const key of Object.keys(localStorage)) if (!unsent.test(key)) localStorage.removeItem(key);
  const databases = indexedDB.databases?.() ?? Promise.resolve([]);
  const all = Promise.all([
    databases.then((list) => Promise.all(list.map(({ name }) => name && deleted(name)))),
    window.caches?.keys().then((names) => Promise.all(names.map((name) => caches.delete(name)))),
  ]).catch(() => {});
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, patience))]);
}

const deleted = (name: string) =>
  new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = resolve;
  });
