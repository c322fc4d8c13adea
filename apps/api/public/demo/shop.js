// Shows what became of a decision: the service's receipt at once, and then the record as the log has it.
const line = document.querySelector('#line');
const list = document.querySelector('#records');
const words = {
  accept_all: 'Accepted all',
  reject_all: 'Rejected all',
  custom: 'Chose',
  withdraw: 'Withdrew',
};

document.querySelector('#settings').addEventListener('click', () => window.assent.open());

document.addEventListener('assent:change', ({ detail: { id } }) => {
  // only where it was decided in this tab, and until the receipt is there
  if (waits(id)) say('Kept in this browser until the service can be reached.');
});

document.addEventListener('assent:recorded', async ({ detail: receipt }) => {
  say(`Received (${receipt.status}): ${receipt.id}. Waiting for it in the log …`);
  const end = performance.now() + 15_000;
  while (performance.now() < end) {
    const records = await read();
    if (records.some(({ id }) => id === receipt.id)) {
      show(records);
      say('In the log:', true);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  say(`Received (${receipt.status}): ${receipt.id}. It is not in the log yet; is the worker running?`);
});

// the widget's tag comes first, so it is there by now
const known = await read();
show(known);
if (known.length > 0) say('In the log:', true);

function waits(id) {
  try {
    return Object.keys(localStorage).some((name) => name.endsWith(`.queue.${id}`));
  } catch {
    return false;
  }
}

async function read() {
  const consent = window.assent.getConsent();
  if (!consent) return [];
  const response = await fetch(`/demo/records/${consent.visitorId}`);
  return response.ok ? response.json() : [];
}

function show(records) {
  list.replaceChildren(
    ...records.map(({ id, decision, decidedAt, preferences }) => {
      const allowed = Object.keys(preferences ?? {}).filter((name) => preferences[name]);
      const detail = decision === 'custom' ? ` ${allowed.join(', ')}` : '';
      return row(`${words[decision]}${detail}`, new Date(decidedAt).toLocaleString(), id);
    }),
  );
}

function row(decision, time, id) {
  const item = document.createElement('li');
  for (const [tag, text] of [
    ['b', decision],
    ['span', time],
    ['code', id],
  ]) {
    const part = document.createElement(tag);
    part.textContent = text;
    item.append(part);
  }
  return item;
}

function say(text, isSafe = false) {
  line.textContent = text;
  line.classList.toggle('safe', isSafe);
}
