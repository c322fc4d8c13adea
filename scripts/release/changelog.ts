/** The sections of CHANGELOG.md. */

interface Section {
  /** 'Unreleased', or a version */
  name: string;
  date?: string;
  text: string;
}

const heading = /^## (\S+)(?: — (\S+))?$/;

/** Newest first. */
export function readSections(changelog: string): Section[] {
  const sections: Section[] = [];
  for (const line of changelog.split('\n')) {
    const [, name, date] = heading.exec(line) ?? [];
    const section = sections.at(-1);
    if (name !== undefined) sections.push({ name, ...(date !== undefined && { date }), text: '' });
    else if (section) section.text += `${line}\n`;
  }
  return sections.map((section) => ({ ...section, text: section.text.trim() }));
}

const hasEntries = ({ text }: Section): boolean => /^- /m.test(text);

/** What keeps `version` from being released. */
export function checkChangelog(changelog: string, version: string): string[] {
  const sections = readSections(changelog);
  const section = sections.find(({ name }) => name === version);
  const unreleased = sections.find(({ name }) => name === 'Unreleased');
  const faults: string[] = [];
  if (!section) faults.push(`CHANGELOG.md has no section "## ${version} — YYYY-MM-DD"`);
  else {
    if (!isDay(section.date)) faults.push(`CHANGELOG.md: ${version} has no date; write "## ${version} — YYYY-MM-DD"`);
    if (!hasEntries(section)) faults.push(`CHANGELOG.md: the section of ${version} is empty`);
    if (sections.find(({ name }) => name !== 'Unreleased') !== section)
      faults.push(`CHANGELOG.md: ${version} is not the newest section`);
  }
  if (unreleased && hasEntries(unreleased))
    faults.push(`CHANGELOG.md: "Unreleased" still has entries; move them to ${version}`);
  return faults;
}

const isDay = (text: string | undefined): boolean =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text);
