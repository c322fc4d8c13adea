/** The dashboard: puts the page into the document. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/cards.css';
import './styles/chart.css';
import './styles/log.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { followLinks } from './data/router.ts';
import { keepPlaces } from './scroll-restoration.ts';

const place = document.getElementById('app');
if (place) {
  followLinks();
  keepPlaces();
  render(<App />, place);
}
