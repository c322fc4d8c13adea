/** Entry of the dashboard. */
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { followLinks } from './data/router.ts';
import { keepScrollPositions } from './scroll-restoration.ts';

const place = document.getElementById('app');
if (place) {
  followLinks();
  keepScrollPositions();
  render(<App />, place);
}
