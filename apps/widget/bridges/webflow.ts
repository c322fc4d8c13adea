/** Entry of bridge-webflow.js: passes the visitor's choice on to Webflow Analyze and Optimize. */
import { follow, isAllowed, onLoad } from './follow.ts';

interface Webflow {
  ready(work: () => void): void;
  getUserTrackingChoice(): 'allow' | 'deny' | 'none';
  allowUserTracking(options: { activate: boolean }): void;
  denyUserTracking(): void;
}

declare global {
  interface Window {
    wf?: Webflow;
  }
}

onLoad(() => {
  const { wf } = window;
  // on another platform's page, or without Analyze and Optimize, there is nothing to do
  wf?.ready(() =>
    follow(() => {
      const choice = isAllowed('analytics') ? 'allow' : 'deny';
      if (wf.getUserTrackingChoice() === choice) return;
      if (choice === 'allow') wf.allowUserTracking({ activate: true });
      else wf.denyUserTracking();
    }),
  );
});
