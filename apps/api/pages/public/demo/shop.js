// Shows what became of a decision: that it waits, the service's receipt, and then the record as the log has it.
const line = document.querySelector('#line');
const list = document.querySelector('#records');
const words = {
  accept_all: 'Accepted all',
  reject_all: 'Rejected all',
  custom: 'Chose',
  withdraw: 'Withdrew',
};

/** What such a page says where an extension or the browser keeps the widget's script out. */
const blocked = 'This browser blocks the banner. Nothing optional runs here, and nothing is recorded.';

document.querySelector('#settings').addEventListener('click', () => {
  if (window.assent) return window.assent.open();
  say(blocked);
  line.scrollIntoView({ block: 'center' });
});

/** Milliseconds that the worker may take. */
const patience = 15_000;
let receipt;
let turns = 0;

document.addEventListener('assent:change', report);
document.addEventListener('assent:recorded', ({ detail }) => {
  receipt = detail;
  report();
});

// the widget's tag comes first, so it is there by now, unless something blocks it
if (window.assent) report();
else say(blocked);

/** Reports what has become of the last decision, until the log has it. A newer decision ends it. */
async function report() {
  if (isChecking()) return say('A site check is under way: it stores no record.');
  turns += 1;
  const turn = turns;
  let end = performance.now() + patience;
  while (turn === turns && window.assent.getConsent()) {
    const { id } = window.assent.getConsent();
    const recorded = receipt?.id === id ? `Recorded (${receipt.status}): ${id}.` : '';
    if (waits()) {
      say('Kept in this browser until it can be sent.');
      end = performance.now() + patience;
    } else if (await isShown(id)) {
      if (turn !== turns) return;
      say('In the log: ', true);
      line.append(linkTo(id));
      return askServer();
    } else if (performance.now() > end) {
      return say(recorded ? `${recorded} It is not in the log yet; is the worker running?` : 'It is not in the log.');
    } else say(recorded ? `${recorded} Waiting for it in the log …` : 'Looking for it in the log …');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whether this tab is in a check of the site, during which the widget sends no decision. */
function isChecking() {
  try {
    return sessionStorage.getItem('assent.check') !== null;
  } catch {
    return false;
  }
}

/** Whether a record is still to be sent, by this tab or another. */
function waits() {
  try {
    return Object.keys(localStorage).some((name) => /^assent\..*\.queue\./.test(name));
  } catch {
    return false;
  }
}

/** Shows what the log has; whether this one is in it. */
async function isShown(id) {
  const records = await read().catch(() => []);
  if (records.length > 0) show(records);
  return records.some((record) => record.id === id);
}

/** What the shop's own server may do, as it asks Assent. */
async function askServer() {
  const response = await fetch(`demo/current/${window.assent.getConsent().visitorId}`);
  if (!response.ok) return;
  const { preferences } = await response.json();
  const allowed = Object.keys(preferences).filter((name) => preferences[name]);
  document.querySelector('#server').textContent =
    `The shop’s server may send events for: ${allowed.join(', ') || 'nothing'}.`;
}

async function read() {
  const response = await fetch(`demo/records/${window.assent.getConsent().visitorId}`);
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

/** To the record in the dashboard, which is beside this page. */
function linkTo(id) {
  const link = document.createElement('a');
  const { domain } = document.querySelector('script[data-domain]').dataset;
  link.href = `domains/${domain}/log?record=${id}`;
  link.textContent = 'this record in the dashboard';
  return link;
}

function say(text, isSafe = false) {
  line.textContent = text;
  line.classList.toggle('safe', isSafe);
}
