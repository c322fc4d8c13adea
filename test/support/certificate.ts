/** A certificate of a file's own. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { type Certificate, makeCertificate } from '../../scripts/stack/certificate.ts';

export const openCertificate = (host: string): Promise<Certificate> =>
  makeCertificate(mkdtempSync(path.join(inject('folder'), 'certificate-')), host);
