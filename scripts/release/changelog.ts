/** The sections of CHANGELOG.md. */

interface Section {
  /** 'Unreleased', or a version */
  name: string;
  date?: string | undefined;
  text: string;
}

/** Newest first. */
export const readSections = (changelog: string): Section[] =>
  changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      const [name = '', date] = heading.split(' — ');
      return { name, date, text: lines.join('\n').trim() };
    });

const hasEntries = ({ text }: Section): boolean => /^[^#\s]/m.test(text);

/** What keeps `version` from being released. */
export function checkChangelog(changelog: string, version: string): string[] {
  const sections = readSections(changelog);
  const unreleased = sections.find(({ name }) => name === 'Unreleased');
  const newest = sections.find(({ name }) => name !== 'Unreleased');
  const faults: string[] = [];
  if (newest?.name !== version || !isDay(newest.date))
    faults.push(`CHANGELOG.md: the newest section has to be "## ${version} — YYYY-MM-DD"`);
  else if (!hasEntries(newest)) faults.push(`CHANGELOG.md: the section of ${version} is empty`);
  if (unreleased && hasEntries(unreleased))
    faults.push(`CHANGELOG.md: "Unreleased" still has entries; move them to ${version}`);
  return faults;
}

const isDay = (text = ''): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text);
