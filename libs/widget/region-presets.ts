/**
 * Presets for a site's rules by place, from the law of each. They are not legal advice. Each names its source, and all were
 * last checked on `checkedOn`. `docs/regions.md` explains them.
 */
import type { Model } from './config.ts';

/** The day on which the laws were last checked. */
export const checkedOn = '2026-11-29';

/** US states whose law lets visitors object to sale and targeted advertising, with the day since which it is in force. */
export const optOutStates = [
  { code: 'US-CA', name: 'California', since: '2020-01-01', act: 'California Consumer Privacy Act' },
  { code: 'US-VA', name: 'Virginia', since: '2023-01-01', act: 'Virginia Consumer Data Protection Act' },
  { code: 'US-CO', name: 'Colorado', since: '2023-07-01', act: 'Colorado Privacy Act' },
  { code: 'US-CT', name: 'Connecticut', since: '2023-07-01', act: 'Connecticut Data Privacy Act' },
  { code: 'US-UT', name: 'Utah', since: '2023-12-31', act: 'Utah Consumer Privacy Act' },
  { code: 'US-OR', name: 'Oregon', since: '2024-07-01', act: 'Oregon Consumer Privacy Act' },
  { code: 'US-TX', name: 'Texas', since: '2024-07-01', act: 'Texas Data Privacy and Security Act' },
  { code: 'US-MT', name: 'Montana', since: '2024-10-01', act: 'Montana Consumer Data Privacy Act' },
  { code: 'US-DE', name: 'Delaware', since: '2025-01-01', act: 'Delaware Personal Data Privacy Act' },
  { code: 'US-IA', name: 'Iowa', since: '2025-01-01', act: 'Iowa Consumer Data Protection Act' },
  { code: 'US-NE', name: 'Nebraska', since: '2025-01-01', act: 'Nebraska Data Privacy Act' },
  { code: 'US-NH', name: 'New Hampshire', since: '2025-01-01', act: 'New Hampshire Privacy Act (SB 255)' },
  { code: 'US-NJ', name: 'New Jersey', since: '2025-01-15', act: 'New Jersey Data Privacy Act (S332)' },
  { code: 'US-TN', name: 'Tennessee', since: '2025-07-01', act: 'Tennessee Information Protection Act' },
  { code: 'US-MN', name: 'Minnesota', since: '2025-07-31', act: 'Minnesota Consumer Data Privacy Act' },
  { code: 'US-MD', name: 'Maryland', since: '2025-10-01', act: 'Maryland Online Data Privacy Act' },
  { code: 'US-IN', name: 'Indiana', since: '2026-01-01', act: 'Indiana Consumer Data Protection Act' },
  { code: 'US-KY', name: 'Kentucky', since: '2026-01-01', act: 'Kentucky Consumer Data Protection Act' },
  {
    code: 'US-RI',
    name: 'Rhode Island',
    since: '2026-01-01',
    act: 'Rhode Island Data Transparency and Privacy Protection Act',
  },
];

export interface RegionPreset {
  name: string;
  in: string[] | '*';
  model: Model;
  source: string;
}

/** In an order in which every rule is reached. No preset uses `none`: not asking is the owner's own decision. */
export const regionPresets: RegionPreset[] = [
  { name: 'EU and EEA', in: ['EEA'], model: 'opt_in', source: 'Directive 2002/58/EC, Article 5(3)' },
  { name: 'United Kingdom', in: ['GB'], model: 'opt_in', source: 'PECR 2003, regulation 6 and Schedule A1' },
  { name: 'Switzerland', in: ['CH'], model: 'opt_in', source: 'FDPIC, guidelines on cookies, 2025-10-06' },
  { name: 'Quebec', in: ['CA-QC'], model: 'opt_in', source: 'CQLR c. P-39.1, section 8.1, since 2023-09-22' },
  {
    name: 'US states with an opt-out law',
    in: optOutStates.map(({ code }) => code),
    model: 'opt_out',
    source: `${optOutStates.length} acts, see optOutStates`,
  },
  { name: 'Everywhere else', in: '*', model: 'opt_in', source: 'many other laws ask first, and unknown ones may' },
];
