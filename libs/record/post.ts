/** POST /v1/consent/:domainId/record: one visitor's decision, made safe before it is acknowledged. */
import { isUtf8 } from 'node:buffer';
import { isbot } from 'isbot';
import type { Clock } from '#libs/base/db/clock';
import { parseObject, readJsonBody, wantsStrict } from '#libs/base/http/body';
import { type AddressRule, clientAddress, storedAddress } from '#libs/base/http/client-address';
import type { Context, Step } from '#libs/base/http/context';
import { makeIdAt, timeOf } from '#libs/base/terms/calendar';
import { refuseFields } from '#libs/base/terms/field-errors';
import { Problem, unavailable } from '#libs/base/terms/problem';
import { acceptedAhead, acceptedPast } from '#libs/base/terms/terms';
import type { PlaceOf } from '#libs/place/place-of';
import { domainIn } from '#libs/tenants/page-access';
import { type NewRecord, type Receipt, type RecordBody, recordBody } from './contract.ts';
import { toRecord } from './fields.ts';
import { describeLeftOut, type LeftOut, type NoteLeftOut, toIgnored } from './left-out.ts';
import type { Recorder } from './recorder.ts';
import { createCheck } from './rules.ts';

export const checkRecord = createCheck(recordBody);

interface RecordConfig {
  ip: AddressRule;
}

interface RecordParts {
  config: RecordConfig;
  placeOf: PlaceOf;
  recorder: Recorder;
  /** which notices the service lacks */
  notices: { isWanted(domainId: string, hash: string): boolean };
  clock: Pick<Clock, 'agrees'>;
  noteLeftOut: NoteLeftOut;
}

export function record({ config, placeOf, recorder, notices, clock, noteLeftOut }: RecordParts): Step {
  return async (ctx) => {
    const domain = domainIn(ctx);
    const isStrict = wantsStrict(ctx);
    const bytes = await readJsonBody(ctx);
    const given = parseObject(bytes);
    const { body, leftOut, broken } = checkRecord(given, { origin: ctx.req.headers.origin, isStrict });
    if (!body) throw refuseFields(broken);
    if (body.source === 'import') leftOut.push(refuseOrLeaveOut(body.source, isStrict));
    const { receivedAt: now } = ctx.state;
    const id = body.id === undefined ? makeIdAt(now) : checkTime(body.id.toLowerCase(), now, clock);
    const receivedAt = toTimestamp(now);
    const { headers } = ctx.req;
    const made = toRecord(body, {
      id,
      domainId: domain.domainId,
      receivedAt,
      source: sourceOf(body),
      ...placeOf(ctx),
      ip: storedAddress(clientAddress(ctx), config.ip),
      userAgent:
        textOf(headers['user-agent'] ?? '')
          .slice(0, 512)
          .replace(/[\ud800-\udbff]$/, '') || undefined,
      gpc: headers['sec-gpc'] === '1' ? true : body.gpc,
      requestId: ctx.state.requestId,
    });
    if (isProgram(made, ctx)) made.bot = true;
    if (isObjectionBySignal(made)) stripToDecision(made);
    const { arrivedAt, trace } = ctx.state;
    const status = await recorder.record(made, domain.organizationId, bytes.length, arrivedAt, trace?.origins());
    const decidedAt = body.id === undefined ? receivedAt : toTimestamp(timeOf(id));
    const receipt: Receipt = { id, status, decidedAt, receivedAt };
    if (leftOut.length > 0) {
      receipt.ignored = toIgnored(leftOut);
      noteLeftOut(domain.domainId, leftOut);
    }
    if (body.notice !== undefined && notices.isWanted(domain.domainId, body.notice)) receipt.notice = 'wanted';
    sendReceipt(ctx, receipt);
  };
}

/** Node reads headers as Latin-1; some apps send their names in UTF-8. */
function textOf(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : header;
}

/** Bypasses Koa, which computes type and length of every body: that took 4 % of a record's processor time. */
function sendReceipt(ctx: Context, receipt: Receipt): void {
  ctx.res.statusCode = 202;
  // the client may have left
  if (!ctx.writable) return;
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.res.end(JSON.stringify(receipt));
  ctx.respond = false;
}

/** Under load many records share a millisecond, and formatting it takes 2 % of a record's processor time. */
let last = { time: 0, text: new Date(0).toISOString() };
function toTimestamp(time: number): string {
  if (time !== last.time) last = { time, text: new Date(time).toISOString() };
  return last.text;
}

/** Returns the id if its time is in the accepted window. */
function checkTime(id: string, now: number, clock: Pick<Clock, 'agrees'>): string {
  const time = timeOf(id);
  if (isAccepted(time, now)) return id;
  // If our clocks disagree, or the clock as it is now would accept the id (it may have been corrected since the request
  // arrived), the response is a 503: from a 400 the client would take our `serverTime`, which may be wrong, and misdate the
  // decision.
  if (!clock.agrees() || isAccepted(time, Date.now()))
    throw unavailable("the id's time cannot be judged: the clocks of the service do not agree");
  throw new Problem('id_time_out_of_range', "the id's time must be between 30 days ago and 5 minutes ahead", {
    errors: [{ path: '/id', message: `has the time ${new Date(time).toISOString()}` }],
    serverTime: new Date(now).toISOString(),
  });
}

const isAccepted = (time: number, now: number): boolean => time >= now - acceptedPast && time <= now + acceptedAhead;

/** Only an import may set this source: a page's key is public. */
function refuseOrLeaveOut(source: string, isStrict: boolean): LeftOut {
  const why = 'must not be `import`: only an import sets it';
  if (isStrict) throw refuseFields([{ path: '/source', message: why }]);
  return describeLeftOut('source', why, source);
}

function sourceOf({ source }: RecordBody): NewRecord['source'] {
  if (source === 'banner') return undefined;
  return source === 'import' ? 'api' : source;
}

/** Every browser sends a user agent. A site's own server need not; it is recognized by the source `api` and no `Origin`. */
const isProgram = ({ userAgent, source }: NewRecord, ctx: Context): boolean =>
  userAgent === undefined && (source !== 'api' || ctx.req.headers.origin !== undefined);

/** The browser objected on the user's behalf (Global Privacy Control), under a model that does not ask first. */
const isObjectionBySignal = ({ source, model }: NewRecord): boolean =>
  source === 'gpc' && (model === 'opt_out' || model === 'none');

/**
 * What comes with an objection by signal may be used only to honour the objection (11 CCR § 7025(d)), so the rest is
 * dropped. Crawlers are detected before the user agent is dropped.
 */
function stripToDecision(record: NewRecord): void {
  if (record.userAgent !== undefined && isbot(record.userAgent)) record.bot = true;
  for (const field of ['ip', 'userAgent', 'pageUrl', 'metadata'] as const) record[field] = undefined;
}
