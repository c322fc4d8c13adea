/** The endpoints of an organization's people. */
import type { Scope } from '#libs/base/terms/terms';
import type { Api } from './api.ts';
import { bodyOf, readAll } from './calls.ts';
import { once } from './once.ts';

const all = '/v1/organization/people';
const one = `${all}/:personId` as const;

export const peopleOf = ({ call: ask }: Pick<Api, 'call'>) => ({
  /** All, newest first. */
  list: (signal?: AbortSignal) =>
    readAll(
      (query) => ask(`get ${all}`, { query, signal }),
      (page) => page.people,
    ),
  invite: (body: { email: string; scopes: Scope[] }) => once(ask)(`post ${all}`, { body }).then(bodyOf),
  /** Ends the link before. */
  inviteAgain: (personId: string) => once(ask)(`post ${one}/invitation`, { params: { personId } }).then(bodyOf),
  change: (personId: string, scopes: Scope[]) => ask(`patch ${one}`, { params: { personId }, body: { scopes } }),
  remove: (personId: string) => ask(`delete ${one}`, { params: { personId } }),
});
