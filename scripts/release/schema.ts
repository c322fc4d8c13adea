/** What a release changes in the schema, and whether the release before can still run on it. */

export interface Migration {
  file: string;
  /** expand: the release before runs on; contract: it takes something away that only a later release may do without */
  kind: 'expand' | 'contract';
  /** the statements that take something away */
  because: string[];
}

const takesAway = [
  /\bdrop\s+(?:table|view|materialized\s+view|column|type|function|procedure|schema|sequence|default)\b[^,;]*/gi,
  /\brename\s+(?:column\s+|constraint\s+)?\S+\s+to\s+\S+|\brename\s+to\s+\S+/gi,
  /\balter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type\s[^,;]*/gi,
  /\balter\s+(?:column\s+)?\S+\s+set\s+not\s+null\b/gi,
  /\badd\s+(?:column\s+)?(?!constraint\b)\S+\s(?:(?!default|generated)[^,;])*\bnot\s+null(?:(?!default|generated)[^,;])*(?=[,;])/gi,
  /\badd\s+(?:constraint\s+\S+\s+)?(?:check|unique|primary\s+key|foreign\s+key|exclude)\b[^,;]*/gi,
  /\btruncate\b[^;]*/gi,
];

export function readMigration(file: string, sql: string): Migration {
  const [up = ''] = sql.split(/^-- migrate:down.*$/m);
  const statements = up.replace(/--.*$/gm, '');
  const because = takesAway.flatMap((pattern) => [...statements.matchAll(pattern)].map(([found]) => oneLine(found)));
  return { file, kind: because.length > 0 ? 'contract' : 'expand', because };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

export function describeSchema(migrations: Migration[]): string {
  if (migrations.length === 0) return 'Nothing.\n';
  return migrations
    .map(({ file, kind, because }) => `- \`${file}\`: ${kind}${because.map((each) => `; \`${each}\``).join('')}\n`)
    .join('');
}
