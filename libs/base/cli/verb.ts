/**
 * Verbs of the command line. Their flags are the fields of a schema, if possible that of the endpoint, so that a new field
 * of the contract becomes a flag, too. A verb's result is printed.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { parseOptions } from '../terms/field-errors.ts';
import { type Printed, show } from './session.ts';
import { wholeNumber } from './whole-number.ts';

interface Flags<S extends z.ZodObject = z.ZodObject> {
  of: S;
  named: { [Field in keyof z.output<S>]?: NamedFlag };
  fixed: Record<string, [help: string, value: Partial<z.input<S>>]>;
}

/** Parses a flag's text; `before` is the previous value of a repeatable flag. */
type Read = (text: string, before: unknown) => unknown;
export type NamedFlag = [flag: string, help: string, read?: Read];

/**
 * `named`: fields whose flags have another name or help than the schema provides; `fixed`: flags that set a field to a
 * fixed value.
 */
export const flags = <S extends z.ZodObject>(
  of: S,
  named: Flags<S>['named'] = {},
  fixed: Flags<S>['fixed'] = {},
): Flags<S> => ({ of, named, fixed });

type Run<S extends z.ZodObject> = (given: z.output<S>, ...args: string[]) => Promise<Printed> | Printed;

interface Flag {
  option: Option;
  field: string;
  /** the fixed value; undefined: the flag takes a value */
  value?: unknown;
}

export const none = flags(z.object({}));
/** `value`: its placeholder in the help, if it is not the name of the flag. */
export const text = (help: string, value?: string) => z.string().optional().meta({ description: help, value });
export const toggle = (help: string) => z.boolean().optional().meta({ description: help });
/** `--limit` of a list. */
export const limited = (usual: number, most = 10_000) =>
  z.object({ limit: z.int().min(1).max(most).default(usual).describe(`how many, up to ${most}`) });

/** Adds verbs to a noun. `use`: the verb with its arguments, such as `create <org> <name>`. */
export const verbsOf =
  (noun: Command) =>
  <S extends z.ZodObject>(use: string, flags: Flags<S>, run: Run<S>): Command =>
    addAction(noun.command(use), flags, run);

/** The same for an existing command, such as a noun without verbs. */
export function addAction<S extends z.ZodObject>(command: Command, flags: Flags<S>, run: Run<S>): Command {
  const all = flagsOf(flags);
  for (const { option } of all) command.addOption(option);
  return command.action(async () => {
    await show(command, await run(readGiven(flags.of, all, command), ...command.args));
  });
}

function flagsOf({ of: { shape }, named, fixed }: Flags): Flag[] {
  const standing = Object.entries(fixed).flatMap(([flag, [help, values]]) =>
    Object.entries(values).map(([field, value]) => ({ field, value, option: new Option(flag, help) })),
  );
  const words: Record<string, NamedFlag | undefined> = named;
  const own = Object.entries(shape).flatMap(([field, schema]) => {
    const isStanding = standing.some((each) => each.field === field);
    const { description = '', value } = z.globalRegistry.get(schema) ?? {};
    const usual = isStanding ? undefined : usualFlag(field, innerOf(schema), value);
    const [flag, help, read] = words[field] ?? [usual, description];
    return flag === undefined ? [] : [{ field, option: optionOf(schema, flag, help, read) }];
  });
  return [...own, ...standing];
}

/** Without `optional` and the like. */
const innerOf = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? innerOf(schema.unwrap())
    : schema;

/**
 * `maxBytes` → `--max-bytes <n>`; a list is a repeatable flag: `types` → `--type <type>`. Undefined if the field is a map
 * or can only be null.
 */
function usualFlag(field: string, inner: z.core.$ZodType, value: unknown): string | undefined {
  if (inner instanceof z.ZodNull || inner instanceof z.ZodRecord) return undefined;
  const name = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (inner instanceof z.ZodBoolean) return `--${name}`;
  const one = inner instanceof z.ZodArray ? name.replace(/s$/, '') : name;
  return `--${one} <${value ?? (inner instanceof z.ZodNumber ? 'n' : one)}>`;
}

function optionOf(schema: z.core.$ZodType, flag: string, help: string, read = readerOf(schema)): Option {
  const inner = innerOf(schema);
  const option = new Option(flag, help).argParser((text: string, before: unknown) => {
    const value = read(text, before);
    const [issue] = z.safeParse(schema, value, parseOptions).error?.issues ?? [];
    if (issue) throw new InvalidArgumentError(issue.message);
    return value;
  });
  if (inner instanceof z.ZodEnum) option.choices(inner.options.map(String));
  if (schema instanceof z.ZodDefault) option.default(schema.def.defaultValue);
  return option.makeOptionMandatory(!z.safeParse(schema, undefined).success);
}

function readerOf(schema: z.core.$ZodType): Read {
  const inner = innerOf(schema);
  if (inner instanceof z.ZodArray) return (text, before) => [...(Array.isArray(before) ? before : []), text];
  if (!(inner instanceof z.ZodNumber)) return (text) => text;
  return wholeNumber(inner.maxValue ?? undefined, inner.minValue ?? undefined);
}

/** The given values by field. Throws an error that names the flag. */
function readGiven<S extends z.ZodObject>(schema: S, flags: Flag[], command: Command): z.output<S> {
  const given = new Map<string, { flag: string | undefined; value: unknown }>();
  for (const { option, field, value } of flags) {
    const name = option.attributeName();
    if (command.getOptionValueSourceWithGlobals(name) !== 'cli') continue;
    const flag = option.long;
    const other = given.get(field)?.flag;
    if (other) throw new Error(`give either ${other} or ${flag}`);
    // a global option of the same name receives the value
    given.set(field, { flag, value: value === undefined ? command.optsWithGlobals()[name] : value });
  }
  const result = schema.safeParse(
    Object.fromEntries([...given].map(([field, { value }]) => [field, value])),
    parseOptions,
  );
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const message = issue?.message.replaceAll(/`(\w+)`/g, (_, field) => flagOf(field)) ?? '';
  throw new Error(`${flagOf(issue?.path[0])} ${message}`);

  function flagOf(field: unknown): string {
    return flags.find((flag) => flag.field === field)?.option.long ?? String(field);
  }
}
