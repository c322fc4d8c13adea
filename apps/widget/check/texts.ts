/** What the panel of a site check says. It is for the site's owner, in English as the dashboard is. */
import type { Finding } from '#libs/widget/site-check';
import type { Content } from './panel.ts';

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const steps = {
  before: 'Step 1 of 3: before the choice',
  rejected: 'Step 2 of 3: after “Reject all”',
  accepted: 'Step 3 of 3: after “Accept all”',
};

export const texts = {
  intro: (host: string): Content => ({
    title: 'Check my site',
    paragraphs: [
      'See what your site does before a visitor chooses, after “Reject all” and after “Accept all”. Only you see this box.',
      `Start makes this browser a new visitor of ${host}, the only address that is checked. It deletes the basket, the sign-in and drafts; a private window has none. Your own choice comes back at the end.`,
      'Switch off extensions that block ads or trackers first: a blocked request looks like one that was sent.',
    ],
  }),
  before: {
    title: steps.before,
    paragraphs: ['Do not use the banner yet. Wait until this page has loaded, and open a few other pages.'],
  },
  signalled: {
    title: steps.before,
    paragraphs: [
      'This browser has already refused: it sends an opt-out signal (Global Privacy Control). Wait until this page has loaded, and open a few other pages.',
    ],
  },
  /** `button`: as the banner names it */
  choose: (step: 'before' | 'accepted', button: string): Content => ({
    title: steps[step],
    task: `Now press “${button}” in the banner, or in the privacy settings if there is none.`,
  }),
  rejected: {
    title: steps.rejected,
    paragraphs: [
      'Open a few pages, such as a product, the basket and a form. Wait until each has loaded.',
      'With Next, this browser becomes a new visitor again.',
    ],
  },
  accepted: { title: steps.accepted, paragraphs: ['Open the same pages again. Wait until each has loaded.'] },
  wrong: {
    title: 'That was another choice',
    paragraphs: ['This step needs the button that the box names. Start the step again.'],
  },
  sending: { title: 'Result', paragraphs: ['Looking up who is behind the hosts…'] },
  /** `failure`: why the result was not stored */
  done: (findings: readonly Finding[], failure: string | undefined): Content => {
    const number = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
    return {
      title: number('fault') === 0 ? 'No faults found' : counted(number('fault'), 'fault'),
      paragraphs: [
        ...(number('hint') === 0 ? [] : [`And ${counted(number('hint'), 'hint')} to look at.`]),
        failure
          ? `The result was not stored: ${failure}. Copy it from the box below.`
          : 'The dashboard keeps the result. A private window asks you to sign in there.',
      ],
      findings,
    };
  },
};
