/** The management pages: domains, their settings and keys, and the activity. */
import './settings.css';

export { Activity } from './activity.tsx';
export { AllDomains } from './all-domains.tsx';
export { NewDomain } from './domain-form.tsx';
export { OneDomain } from './one-domain.tsx';
