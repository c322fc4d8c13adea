/** Reads times by a format, in a time zone. */
import { DateTime, IANAZone } from 'luxon';
import { partsOf, type TimeRules, unixUnits } from './time-rules.ts';

export interface TimeReader {
  /** RFC 3339 UTC; undefined for a value that is no such time, or that the zone's clocks skipped */
  read(value: unknown): string | undefined;
  /** why a value cannot be read */
  problem(value: unknown): string;
}

export function createTimeReader({ format, zone = 'UTC' }: TimeRules): TimeReader {
  const unit = format === undefined ? undefined : unixUnits.get(format);
  if (unit !== undefined) {
    const units = unit === 1 ? 'milliseconds' : 'seconds';
    return {
      read: (value) => toText(countOf(value, unit)),
      problem: () => `must be a number of ${units} since 1970, by ${format}`,
    };
  }
  const rule = `must be a time ${format === undefined ? 'such as 2024-05-31 09:30' : `by ${format}`}`;
  const readWall = format === undefined ? readIso : readBy(format);
  forgetZones();
  const offsets = IANAZone.create(zone);
  // some programs write a narrow or non-breaking space before AM
  const wallOf = (value: unknown) =>
    typeof value === 'string' ? readWall(value.trim().replaceAll(/\s/g, ' ')) : undefined;
  return {
    read: (value) => {
      const wall = wallOf(value);
      return wall && toText(wall.hasZone ? wall.time : momentAt(wall.time, offsets));
    },
    problem: (value) => (wallOf(value) ? `${rule} that clocks in ${zone} showed: they skipped this one` : rule),
  };
}

/** 9999-12-31T23:59:59.999Z: later times, such as milliseconds taken for seconds, have no RFC 3339 */
const last = 253_402_300_799_999;

const toText = (time: number | undefined): string | undefined =>
  time === undefined || !(Math.abs(time) <= last) ? undefined : new Date(time).toISOString();

function countOf(value: unknown, unit: number): number | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\s*-?\d{1,15}(?:[.,]\d{1,9})?\s*$/.test(text)
    ? Math.round(Number(text.replace(',', '.')) * unit)
    : undefined;
}

/** The time that the clocks showed, as if in UTC, in Unix milliseconds; `hasZone`: the text contains its zone. */
interface Wall {
  time: number;
  hasZone: boolean;
}

/** Clears Luxon's cache of zones after so many readers and texts that name a zone; by then it can have some 15 MB. */
const forgetEvery = 256;
let zones = 0;

/** Luxon caches each zone that was ever asked for, in each spelling. */
function forgetZones(): void {
  zones += 1;
  if (zones % forgetEvery === 0) IANAZone.resetCache();
}

function readBy(format: string): (text: string) => Wall | undefined {
  const parts = partsOf(format);
  const hasZone = /[Zz]/.test(parts);
  const namesZone = parts.includes('z');
  const options = { zone: 'utc', locale: 'en-US' };
  const parser = DateTime.buildFormatParser(format, options);
  return (text) => {
    if (namesZone) forgetZones();
    const time = DateTime.fromFormatParser(text, parser, options);
    return time.isValid ? { time: time.toMillis(), hasZone } : undefined;
  };
}

/** ISO 8601, also as databases write it: `2024-05-31 09:30:00.5+02`. */
const iso = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/;

function readIso(text: string): Wall | undefined {
  const [, day, clock, zone] = iso.exec(text) ?? [];
  if (!day || !clock) return undefined;
  const time = DateTime.fromISO(`${day}T${clock}${zone === undefined || zone === 'UTC' ? 'Z' : zone}`, { zone: 'utc' });
  return time.isValid ? { time: time.toMillis(), hasZone: zone !== undefined } : undefined;
}

const day = 24 * 60 * 60 * 1_000;

/** The first moment at which the zone's clocks showed this time; undefined if they skipped it. */
function momentAt(wall: number, zone: IANAZone): number | undefined {
  const around = [wall - day, wall + day].map((time) => wall - zone.offset(time) * 60_000);
  const shown = around.filter((time) => time + zone.offset(time) * 60_000 === wall);
  return shown.length > 0 ? Math.min(...shown) : undefined;
}
