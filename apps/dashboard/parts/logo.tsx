export const Logo = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M9 16.5l5 5 9-11" />
  </svg>
);
