/** The body of a record, or the refusal that names its broken fields. */
import { checkRecord } from '#libs/contract/check-record';
import type { RecordBody } from '#libs/contract/record';
import { refuseFields } from '../http/field-errors.ts';

export function checkBody(given: Record<string, unknown>): RecordBody {
  const { body, broken } = checkRecord(given);
  if (body) return body;
  throw refuseFields(broken);
}
