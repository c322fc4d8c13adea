/** POST /v1/consent/:domainId/record: one visitor's decision, made safe before it is acknowledged. */
import type { ApiConfig } from '#libs/config/api';
import type { FieldError } from '#libs/contract/problem';
import { Problem } from '#libs/contract/problem';
import {
  compiledRecordBody,
  mapLimits,
  type NewRecord,
  type RecordBody,
  recordFields,
  tooMany,
} from '#libs/contract/record';
import type { Receipt } from '#libs/contract/responses';
import { acceptedAhead, acceptedPast } from '#libs/contract/terms';
import { makeIdAt, timeOf } from '#libs/contract/uuid';
import { domainIn } from '../access/api-key.ts';
import { clientAddress, storedAddress } from '../access/client-address.ts';
import type { Context } from '../http/context.ts';
import { parseOptions, refuseFields, toFieldErrors } from '../http/field-errors.ts';
import type { Step } from '../http/steps.ts';
import { createBotDetector } from './bots.ts';
import { bodyLimit, isObject, readJsonObject } from './json-body.ts';
import type { Recorder } from './recorder.ts';

type RecordConfig = Pick<ApiConfig, 'ip' | 'countryHeader'>;

export function record({ config, recorder }: { config: RecordConfig; recorder: Recorder }): Step {
  const isBot = createBotDetector();
  return async (ctx) => {
    const domain = domainIn(ctx);
    const given = await readJsonObject(ctx);
    const body = checkBody(given);
    const { receivedAt: now } = ctx.state;
    const id = body.id === undefined ? makeIdAt(now) : checkTime(body.id.toLowerCase(), now);
    const receivedAt = toTimestamp(now);
    const made = toRecord(ctx, body, { id, domainId: domain.domainId, receivedAt }, config);
    if (isBot(made.userAgent)) made.bot = true;
    const size = Number(ctx.req.headers['content-length'] ?? bodyLimit);
    const ignored = Object.keys(given).filter((field) => !recordFields.has(field));
    const status = await recorder.record(made, domain.organizationId, size, ctx.state.arrivedAt);
    const decidedAt = body.id === undefined ? receivedAt : toTimestamp(timeOf(id));
    const receipt: Receipt = { id, status, decidedAt, receivedAt };
    ctx.status = 202;
    ctx.body = ignored.length > 0 ? { ...receipt, ignored } : receipt;
  };
}

const toTimestamp = (time: number): string => new Date(time).toISOString();

function checkBody(given: Record<string, unknown>): RecordBody {
  const crowded = [...crowdedMap(given, 'preferences'), ...crowdedMap(given, 'metadata')];
  if (crowded.length > 0) throw refuseFields(crowded);
  const result = compiledRecordBody.safeParse(given, parseOptions);
  const unseen = prototypeNames(given);
  if (result.success && unseen.length === 0) return result.data;
  throw refuseFields([...unseen, ...toFieldErrors(result.error?.issues ?? [])]);
}

/** Thousands of entries are counted before each is looked at: as many errors would cost hundreds of records' time. */
function crowdedMap(given: Record<string, unknown>, field: keyof typeof mapLimits): FieldError[] {
  const limit = mapLimits[field];
  const map = given[field];
  if (!isObject(map) || Object.keys(map).length <= limit) return [];
  return [{ path: `/${field}`, message: tooMany(limit) }];
}

/** zod leaves a `__proto__` entry out of a map without a word, so it is looked for here. */
function prototypeNames({ preferences, metadata }: Record<string, unknown>): FieldError[] {
  const found: FieldError[] = [];
  if (namesPrototype(preferences)) found.push({ path: '/preferences/__proto__', message: 'is not an allowed name' });
  if (namesPrototype(metadata)) found.push({ path: '/metadata/__proto__', message: 'is not an allowed name' });
  return found;
}

const namesPrototype = (map: unknown): boolean => isObject(map) && Object.hasOwn(map, '__proto__');

/** The id as given, where its time lies in the accepted window. */
function checkTime(id: string, now: number): string {
  const time = timeOf(id);
  if (time >= now - acceptedPast && time <= now + acceptedAhead) return id;
  throw new Problem('id_time_out_of_range', "the id's time must lie from 30 days ago to 5 minutes ahead", {
    errors: [{ path: '/id', message: `carries the time ${new Date(time).toISOString()}` }],
    serverTime: new Date(now).toISOString(),
  });
}

type Identity = Pick<NewRecord, 'id' | 'domainId' | 'receivedAt'>;

/** Every field by name: one shape of object for all records is made and written faster than a spread. */
function toRecord(ctx: Context, body: RecordBody, identity: Identity, config: RecordConfig): NewRecord {
  const { headers } = ctx.req;
  const byHeader = headers['sec-gpc'] === '1';
  return {
    id: identity.id,
    domainId: identity.domainId,
    decision: body.decision,
    receivedAt: identity.receivedAt,
    source: body.source === 'banner' ? undefined : body.source,
    visitorId: body.visitorId,
    preferences: body.preferences,
    bannerVersion: body.bannerVersion,
    policyVersion: body.policyVersion,
    language: body.language,
    pageUrl: body.pageUrl === undefined ? undefined : withoutQuery(body.pageUrl),
    country: config.countryHeader ? countryIn(ctx.get(config.countryHeader)) : undefined,
    ip: storedAddress(clientAddress(ctx), config.ip),
    userAgent: headers['user-agent']?.slice(0, 512) || undefined,
    tcString: body.tcString,
    gppString: body.gppString,
    gpc: byHeader ? true : body.gpc,
    metadata: body.metadata,
    bot: undefined,
    requestId: ctx.state.requestId,
  };
}

/** Query, fragment and credentials of a page's address can identify the visitor and are not kept. */
function withoutQuery(pageUrl: string): string {
  const end = pageUrl.search(/[?#]/);
  const kept = end === -1 ? pageUrl : pageUrl.slice(0, end);
  if (!kept.includes('@')) return kept;
  const { origin, pathname } = new URL(kept);
  return origin + pathname;
}

const countryIn = (header: string): string | undefined =>
  /^[A-Za-z]{2}$/.test(header) ? header.toUpperCase() : undefined;
