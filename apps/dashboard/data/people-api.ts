/** The endpoints of an organization's people. */
import type { Scope } from '#libs/base/terms/terms';
import type { Api } from './api.ts';
import { bodyOf, readAll } from './calls.ts';
import { idempotent } from './idempotent.ts';

const all = '/v1/organization/people';
const one = `${all}/:personId` as const;

export const peopleOf = ({ call: ask }: Pick<Api, 'call'>) => ({
  /** All people, newest first. */
  list: (signal?: AbortSignal) =>
    readAll(
      (query) => ask(`get ${all}`, { query, signal }),
      (page) => page.people,
    ),
  invite: (body: { email: string; scopes: Scope[] }) => idempotent(ask)(`post ${all}`, { body }).then(bodyOf),
  /** The previous link stops working. */
  inviteAgain: (personId: string) => idempotent(ask)(`post ${one}/invitation`, { params: { personId } }).then(bodyOf),
  change: (personId: string, scopes: Scope[]) => ask(`patch ${one}`, { params: { personId }, body: { scopes } }),
  remove: (personId: string) => ask(`delete ${one}`, { params: { personId } }),
});
