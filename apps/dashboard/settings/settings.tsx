/** The pages of what an organization manages: its domains, their settings and keys, and who did what. */
import './settings.css';

export { Activity } from './activity.tsx';
export { AllDomains } from './all-domains.tsx';
export { NewDomain } from './domain-form.tsx';
export { OneDomain } from './one-domain.tsx';
