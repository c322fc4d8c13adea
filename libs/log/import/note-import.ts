import type { Perform } from '#libs/tenants/audited-change';

/** What an import did; also one that ended early. */
export const noteImport = (
  perform: Perform,
  domainId: string,
  details: { importId: string } & Record<string, string | number | boolean>,
): Promise<void> => perform(async (_, note) => note({ act: 'records.import', subject: domainId, domainId, details }));
