// Filters the operations and schemas, on the page and in its list: those stay that have every word in their head.
const form = document.querySelector('form');
const field = form.querySelector('input');
const parts = [...document.querySelectorAll('main section')].map((section) => ({
  section,
  entry: document.querySelector(`nav a[href="#${section.id}"]`)?.parentElement,
  head: [...section.querySelectorAll(':scope > :is(h3, p)')].reduce((all, each) => `${all} ${each.textContent}`, ''),
}));

function filter() {
  const words = field.value.toLowerCase().split(/\s+/);
  const found = parts.filter(({ section, entry, head }) => {
    const isFound = words.every((word) => `${section.id} ${head}`.toLowerCase().includes(word));
    for (const each of [section, entry]) each?.toggleAttribute('hidden', !isFound);
    return isFound;
  });
  const isAll = found.length === parts.length;
  document.body.classList.toggle('filtered', !isAll);
  form.querySelector('[role=status]').textContent = isAll ? '' : `${found.length || 'None'} of ${parts.length}`;
  return found;
}

form.hidden = false;
field.addEventListener('input', filter);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const [first] = filter();
  if (first) location.hash = first.section.id;
});
// a link may lead to what is filtered out
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || target.checkVisibility()) return;
  field.value = '';
  filter();
  target.scrollIntoView();
});
filter();
