import type { Webhook } from '#libs/contract/webhook';
import { stateOf, type WebhookState } from '../../data/webhooks.ts';

const names: Record<WebhookState, string> = { active: 'Active', failing: 'Failing', paused: 'Paused' };

export function StateTag({ webhook }: { webhook: Webhook }) {
  const state = stateOf(webhook);
  return <span class={`webhook-state webhook-${state}`}>{names[state]}</span>;
}
