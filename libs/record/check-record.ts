/**
 * The fields of a record, or of a display, as a client sends them. `decision`, `id` and, in a `custom` record,
 * `preferences` decide: where one is broken the body is refused. All others describe: what breaks its rule is mended where
 * its meaning is plain, else left out, so that no decision is lost for it.
 */
import type { z } from 'zod';
import { pointer } from '#libs/base/terms/field-errors';
import type { FieldError } from '#libs/base/terms/problem';
import { createRules, type Given } from './body-rules.ts';
import { recordBody } from './contract.ts';
import { type LeftOut, leaveOut } from './left-out.ts';
import { keepWhatHolds, withoutAbsent } from './lenient.ts';

interface Manner {
  /** of the page, by the request's header */
  origin?: string | undefined;
  /** nothing is mended or left out: for whoever tests an integration */
  isStrict?: boolean;
}

export type Checked<Body> =
  | { body: Body; leftOut: LeftOut[]; broken?: undefined }
  | { body?: undefined; leftOut?: undefined; broken: FieldError[] };

const notKnown = 'is not a known field';

/** A valid body is parsed once. */
export function createCheck<Schema extends z.ZodObject>(schema: Schema) {
  const rules = createRules(schema);
  const { fields } = rules;

  return (given: Given, { origin, isStrict = false }: Manner = {}): Checked<z.infer<Schema>> => {
    const unknown = Object.keys(given).filter((field) => !rules.has(field) && given[field] !== null);
    const body = rules.parse(given);
    if (body && unknown.length === 0) return { body, leftOut: [] };
    if (isStrict) return strictly(given, unknown);
    const ofNoField = unknown.map((field) => leaveOut(field, notKnown, given[field]));
    if (body) return { body, leftOut: ofNoField };
    // what a `custom` record means is in its categories
    const decides = given.decision === 'custom' ? ['decision', 'id', 'preferences'] : ['decision', 'id'];
    const { kept, leftOut } = keepWhatHolds(withoutAbsent(given, fields), rules, { decides, origin });
    const read = rules.parse(kept);
    return read ? { body: read, leftOut: [...leftOut, ...ofNoField] } : { broken: rules.broken(kept) };
  };

  function strictly(given: Given, unknown: string[]): Checked<z.infer<Schema>> {
    const present = withoutAbsent(given, fields);
    const body = rules.parse(present);
    if (body && unknown.length === 0) return { body, leftOut: [] };
    const ofNoField = unknown.map((field) => ({ path: pointer([field]), message: notKnown }));
    return { broken: [...rules.broken(present), ...ofNoField] };
  }
}

export const checkRecord = createCheck(recordBody);
