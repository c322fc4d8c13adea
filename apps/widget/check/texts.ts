/** What the panel of a site check says. It is for the site's owner, in English as the dashboard is. */
import type { Finding } from '#libs/widget/site-check';

interface Said {
  title: string;
  paragraphs: string[];
  findings?: readonly Finding[];
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const texts = {
  intro: (host: string): Said => ({
    title: 'Check my site',
    paragraphs: [
      'This check shows what your site does before a visitor chooses, after “Reject all” and after “Accept all”. Only you see this box.',
      `To begin, this browser becomes a new visitor of ${host}: it deletes the basket, the sign-in and drafts that it keeps for the site. In a private window nothing is lost. Your own choice in the banner comes back at the end.`,
      'Switch off extensions that block ads or trackers. A blocked request cannot be told from one that was sent.',
      `Only ${host} is checked. For another address of the site, with www or a subdomain, open the link there and start there.`,
    ],
  }),
  before: {
    title: 'Step 1 of 3: before the choice',
    paragraphs: [
      'Do not use the banner yet. Wait until this page has loaded, and open other pages if you like.',
      'Then press “Reject all” in the banner. If there is none, open the privacy settings and reject everything there.',
    ],
  },
  signalled: {
    title: 'Step 1 of 3: before the choice',
    paragraphs: [
      'This browser has already refused: it sends an opt-out signal (Global Privacy Control). Open other pages if you like, then go on.',
    ],
  },
  rejected: {
    title: 'Step 2 of 3: after “Reject all”',
    paragraphs: [
      'Open a few pages, such as a product, the basket and a form. Wait until each has loaded.',
      'Then press Next. This browser becomes a new visitor again.',
    ],
  },
  asking: {
    title: 'Step 3 of 3: after “Accept all”',
    paragraphs: [
      'Press “Accept all” in the banner. If there is none, open the privacy settings and accept everything there.',
    ],
  },
  accepted: {
    title: 'Step 3 of 3: after “Accept all”',
    paragraphs: ['Open the same pages again. Wait until each has loaded, then press Finish.'],
  },
  wrong: {
    title: 'That was another choice',
    paragraphs: ['This step needs the button that the box named. Start the step again.'],
  },
  sending: { title: 'Result', paragraphs: ['Looking up who is behind the hosts…'] },
  /** `failure`: why the result was not stored */
  done: (findings: readonly Finding[], failure: string | undefined): Said => {
    const number = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
    return {
      title: number('fault') === 0 ? 'No faults found' : counted(number('fault'), 'fault'),
      paragraphs: [
        ...(number('hint') === 0 ? [] : [`And ${counted(number('hint'), 'hint')} to look at.`]),
        failure
          ? `The result was not stored: ${failure}. Copy it from the box below.`
          : 'The result is stored. You find it in the dashboard, on the widget page of this site.',
      ],
      findings,
    };
  },
};
