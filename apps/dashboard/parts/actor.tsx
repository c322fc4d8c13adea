/** The actor of an act. Acts hold a person's id, which is shown as name and email address. */
import './actor.css';
import { useEffect, useState } from 'preact/hooks';
import type { Organization } from '#libs/stats/contract';
import type { Api } from '../data/api.ts';
import { readAll } from '../data/calls.ts';
import { peopleOf } from '../data/people-api.ts';
import { mayManage, maySeeActs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { isolated } from './isolated.tsx';

/** People by the id in acts: the email address, and the name if they still belong to the organization. */
export type People = Map<string, { email: string; name: string | null }>;

/** Cached for each session, for a while. */
const known = new WeakMap<Api, Promise<People>>();
/** milliseconds */
const knownFor = 60_000;

export const isPerson = (actor: string): boolean => /^(person:)?per_/.test(actor);
const idIn = (actor: string): string => actor.replace('person:', '');

async function readPeople(api: Api, organization: Organization): Promise<People> {
  const acts = maySeeActs(organization)
    ? await readAll(
        (query) => api.call('get /v1/organization/acts', { query: { ...query, act: 'person.create' } }),
        (page) => page.acts,
      )
    : [];
  const list = mayManage(organization) ? await peopleOf(api).list() : [];
  return new Map([
    // includes people who were removed
    ...acts.map(({ subject, details }) => [subject, { email: String(details.email), name: null }] as const),
    ...list.map(({ personId, email, name }) => [personId, { email, name }] as const),
  ]);
}

function peopleIn(api: Api, organization: Organization): Promise<People> {
  const reading = known.get(api) ?? readPeople(api, organization);
  if (!known.has(api)) setTimeout(() => known.delete(api), knownFor);
  known.set(api, reading);
  return reading;
}

/** Empty while loading, and for tokens that may not read people. `wanted`: whether any person is shown. */
export function usePeople(wanted: boolean): People {
  const { api, organization } = useSignedIn();
  const [people, setPeople] = useState<People>(new Map());
  useEffect(() => {
    if (wanted) peopleIn(api, organization).then(setPeople, () => {});
  }, [api, wanted]);
  return people;
}

/** The actor as part of a sentence. */
export function nameOfPerson(people: People, id: string): string {
  const person = people.get(idIn(id));
  return person?.name ?? person?.email ?? id;
}

/** The id for a typed email address or name; the text itself if it matches nobody. */
export async function actorNamed(api: Api, organization: Organization, text: string): Promise<string> {
  const people = await peopleIn(api, organization);
  const found = [...people].find(([, { email, name }]) => email === text.toLowerCase() || name === text);
  return found ? `person:${found[0]}` : text;
}

export function Actor({ of: actor }: { of: string }) {
  const person = usePeople(isPerson(actor)).get(idIn(actor));
  if (!person) return isolated(actor);
  const { name, email } = person;
  return (
    <>
      {isolated(name ?? email)} {name !== null && <span class="hint actor-mail">{isolated(email)}</span>}
    </>
  );
}
