/** Whether the visitor's browser sends Global Privacy Control. */
export const gpc = navigator.globalPrivacyControl === true;
