// A stand-in for the script of the WP Consent API's plugin: the functions, the cookies and the event that it has.
window.consent_api = { cookie_prefix: 'wp_consent' };
const cookieOf = (category) => new RegExp(`(?:^|; )wp_consent_${category}=([^;]*)`).exec(document.cookie)?.[1] ?? '';

window.wp_has_consent = (category) => {
  const type = window.wp_consent_type ?? window.wp_fallback_consent_type;
  const value = cookieOf(category);
  return !type || value === 'allow' || (type === 'optout' && value === '');
};

window.wp_set_consent = (category, value) => {
  const before = cookieOf(category);
  // biome-ignore lint/suspicious/noDocumentCookie: as the real one does
  document.cookie = `wp_consent_${category}=${value}; path=/`;
  if (before === value) return;
  const changed = [];
  changed[category] = value;
  document.dispatchEvent(new CustomEvent('wp_listen_for_consent_change', { detail: changed }));
};
