/** Links to pages that belong together. */
import './tabs.css';

export interface Tab {
  name: string;
  address: string;
  isCurrent: boolean;
}

export const Tabs = ({ label, tabs }: { label: string; tabs: Tab[] }) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, address, isCurrent }) => (
      <a key={name} href={address} aria-current={isCurrent ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
);
