cd /tmp/w/R
npm start > /tmp/w/R-start.log 2>&1 & pid=$!
for i in $(seq 120); do grep -q 'Ctrl-C stops' /tmp/w/R-start.log && break; kill -0 $pid || exit 1; sleep 1; done
t=$(date +%s)
npm run -s demo 2>&1 | tail -2
echo "demo $(( $(date +%s) - t )) s"; t=$(date +%s)
node -e "
const fs=require('fs');const text=fs.readFileSync('docs/authority.md','utf8');
const parts=text.split(/^## /m).slice(1);
let out='set -eu\n';
for(const part of parts){out+='start=\$(date +%s%N)\n';for(const m of part.matchAll(/^\`\`\`sh\n([\s\S]*?)^\`\`\`/gm))out+=m[1].replace(/^npm (start|run demo).*\$/gm,':')+'\n';out+='echo; echo \"=== '+part.split('\n')[0].replace(/[\`\"]/g,'')+' \$(( (\$(date +%s%N)-start)/1000000 )) ms\"\n';}
fs.writeFileSync('/tmp/w/R-blocks.sh',out)"
(mkdir -p /tmp/w/R-shots/files; timeout 200 bash /tmp/w/R-blocks.sh > /tmp/w/R-blocks.log 2>/tmp/w/R-blocks.err; echo "blocks $?"; grep === /tmp/w/R-blocks.log)
echo "sealed after $(( $(date +%s) - t )) s"
npx tsx zz-walk.mts
kill -INT $pid; wait $pid
