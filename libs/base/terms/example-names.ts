/** All examples show the same shop, visitor and decision. */

export const organizationId = 'org_9c1d5e7f3b2a46801d2e';
export const domainId = 'dom_e7e294eaccbed2ec8a28';
export const recordId = '01a2025a-e37a-7082-80b1-0b8d4c7c4405';
export const visitorId = 'v-6f1c2a90';
export const noticeHash = '6b3a1f0c9d8e7b5a4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b';
export const keyPrefix = 'ak_Zk3vQ9xT';
export const webhookId = 'wh_4f7a1b2c3d5e6f8091a2';
export const erasureId = 'ers_5b8e2d4c6a7f9013c2d4';
export const messageId = 'msg_2c4e6a8b0d1f3579bdf02468ace13579';
export const decidedAt = '2026-11-22T08:24:00.634Z';
export const laterAt = '2026-11-22T08:25:00.012Z';

export const verifierKey =
  'consent.example.com/dom_e7e294eaccbed2ec8a28/1+5c1b9a2e+AdYw8r0mR1qk7pB0nC2xv4uT6sQ8oM5lJ3hG1fE9dC7b';
export const checkpoint = [
  'consent.example.com/dom_e7e294eaccbed2ec8a28/1',
  '7',
  'q5y0Yc0m3bXo8N7l4f1Jt2kVw9uRz6sPaHgEeDiCxBo=',
  '',
  '— consent.example.com/dom_e7e294eaccbed2ec8a28/1 XBuaLkV2dGhpcyBpcyBub3QgYSByZWFsIHNpZ25hdHVyZSwganVzdCBpdHMgZm9ybQ==',
  '',
].join('\n');
export const siblingHash = 'AozczDgFusUZUuArytohikDknKLFRQgSLTTnLjfm56I=';
