// Stands for a marketing tag: the page holds it as text/plain, and the widget runs it once marketing is allowed.
const offer = document.querySelector('#offer');
offer.textContent = 'You allowed marketing, so this tag ran: 10 % off the first order.';
offer.classList.add('awake');
// biome-ignore lint/suspicious/noDocumentCookie: tags set cookies so
document.cookie = 'fern_offer=10;path=/;max-age=2592000;samesite=lax';
