package redact

import (
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/recorder/redact/chars"
)

// programRows are the programs that take a secret on their command line, and the
// options they take it with. Options whose name alone tells (--password, --token)
// need no row: they are known by their name, whatever the program.
var programRows = []struct {
	programs, sub, flags string
	form                 form
	sep                  byte
	kind                 string
}{
	// Web
	{"curl", "", "-u --user -U --proxy-user", formPair, ':', "password"},
	{"curl", "", "-E --cert", formPair, ':', "password"},
	{"curl", "", "-b --cookie", formPair, '=', "cookie"},
	{"curl", "", "--oauth2-bearer --pass --proxy-pass --tlspassword", formNext, 0, "token"},
	{"wget wget2", "", "--http-passwd --ftp-password --proxy-passwd", formNext, 0, "password"},
	{"http https xh xhs httpie", "", "-a --auth", formPair, ':', "password"},
	{"ab siege", "", "-A -P", formPair, ':', "password"},
	{"hey wrk vegeta", "", "-a", formPair, ':', "password"},
	{"lftp", "", "-u --user", formPair, ',', "password"},
	{"ncftp ncftpget ncftpput", "", "-p", formBoth, 0, "password"},
	{"aria2c", "", "--http-passwd --ftp-passwd --rpc-secret", formNext, 0, "password"},
	{"yt-dlp youtube-dl", "", "-p --video-password --ap-password", formNext, 0, "password"},
	{"rclone", "", "--ftp-pass --sftp-pass --webdav-pass --rc-pass --pass", formNext, 0, "password"},
	{"cadaver davfs2", "", "-p", formNext, 0, "password"},
	// Databases
	{"mysql mysqladmin mysqldump mysqlimport mysqlcheck mysqlshow mysqlpump mysqlslap mariadb mariadb-dump " +
		"mariadb-admin",
		"", "-p", formGlued, 0, "password"},
	{"mysqlsh mycli", "", "-p", formBoth, 0, "password"},
	{"mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop", "", "-p", formBoth, 0, "password"},
	{"redis-cli redis-benchmark valkey-cli keydb-cli", "", "-a --pass", formNext, 0, "password"},
	{"sqlcmd bcp osql isql tsql mssql-cli", "", "-P", formBoth, 0, "password"},
	{"cqlsh nodetool sstableloader", "", "-p -pw", formNext, 0, "password"},
	{"influx", "", "-password -t --token", formNext, 0, "token"},
	{"cypher-shell neo4j-admin", "", "-p", formNext, 0, "password"},
	{"arangosh arangodump", "", "--server.password", formNext, 0, "password"},
	{"snowsql", "", "-p", formNext, 0, "password"},
	{"impala-shell beeline", "", "-p", formNext, 0, "password"},
	{"couchbase-cli cbq", "", "-p", formNext, 0, "password"},
	{"rabbitmqadmin", "", "-p", formNext, 0, "password"},
	{"mosquitto_pub mosquitto_sub mqtt", "", "-P --pw", formNext, 0, "password"},
	{"mosquitto_passwd", "", "-b", formThird, 0, "password"},
	// Remote login and directories
	{"sshpass", "", "-p", formBoth, 0, "password"},
	{"plink pscp psftp putty", "", "-pw", formNext, 0, "password"},
	{"ssh-keygen", "", "-N -P", formNext, 0, "password"},
	{"rdesktop", "", "-p", formNext, 0, "password"},
	{"xfreerdp", "", "-p", formNext, 0, "password"},
	{"vncviewer", "", "-password", formNext, 0, "password"},
	{"smbclient rpcclient smbget smbcacls winexe net", "", "-U --user", formPair, '%', "password"},
	{"ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare", "", "-w", formBoth, 0, "password"},
	{"ldappasswd", "", "-s -a", formNext, 0, "password"},
	{"kadmin kadmin.local", "", "-w -pw", formNext, 0, "password"},
	{"ipmitool", "", "-P", formBoth, 0, "password"},
	{"ipa samba-tool", "", "--newpassword --adminpass", formNext, 0, "password"},
	{"snmpwalk snmpget snmpset snmpbulkwalk", "", "-A -X", formNext, 0, "password"},
	{"evil-winrm crackmapexec netexec nxc psexec", "", "-p", formNext, 0, "password"},
	{"useradd usermod adduser", "", "-p --password", formNext, 0, "password"},
	{"sysadminctl", "", "-password -adminPassword -newPassword", formNext, 0, "password"},
	{"sudo", "", "-S", formPiped, 0, "password"},
	{"openvpn", "", "--auth-pass", formNext, 0, "password"},
	{"openconnect", "", "--passwd-on-stdin", formPiped, 0, "password"},
	// Keys and archives
	{"openssl", "", "-passin -passout -pass -password -srppass -keypass", formPass, 0, "password"},
	{"openssl", "enc", "-k -K", formNext, 0, "key"},
	{"openssl", "passwd", "-stdin", formPiped, 0, "password"},
	{"openssl", "dgst", "-hmac", formNext, 0, "key"},
	{"htpasswd", "", "-b -bc -cb -bB -Bb -Bbc -bcB -cBb", formThird, 0, "password"},
	{"htpasswd", "", "-nb -bn -nbB -bnB -Bbn -nbm -nbBC", formSecond, 0, "password"},
	{"keytool jarsigner apksigner", "", "-storepass -keypass -srcstorepass -deststorepass -new --ks-pass --key-pass", formNext, 0, "password"},
	{"zip unzip zipcloak", "", "-P", formBoth, 0, "password"},
	{"7z 7za 7zz 7zr rar unrar", "", "-p -hp", formGlued, 0, "password"},
	{"security", "add-generic-password", "-w", formNext, 0, "password"},
	{"security", "add-internet-password", "-w", formNext, 0, "password"},
	{"security", "unlock-keychain", "-p", formNext, 0, "password"},
	{"cosign minisign signify", "", "-W", formPiped, 0, "password"},
	{"caddy", "hash-password", "-p --plaintext", formNext, 0, "password"},
	{"oathtool", "", "-b --base32 --totp --hotp -d --digits", formPlain, 0, "key"},
	{"jwt", "", "-S --secret", formNext, 0, "secret"},
	// Containers and clusters
	{"docker podman nerdctl buildah helm oras crane regctl finch", "login", "-p --password", formBoth, 0, "password"},
	{"docker podman nerdctl buildah helm oras crane regctl finch", "", "--password-stdin", formPiped, 0, "password"},
	{"podman buildah skopeo", "", "--creds --src-creds --dest-creds", formPair, ':', "password"},
	{"ctr crictl", "", "-u --user --creds", formPair, ':', "password"},
	{"kubectl oc", "secret", "--from-literal", formEqual, 0, "secret"},
	{"kubectl oc", "", "--docker-password --token", formNext, 0, "password"},
	{"oc", "login", "-p", formNext, 0, "password"},
	{"argocd", "", "--auth-token --password", formNext, 0, "token"},
	{"kubeseal", "", "--raw", formPiped, 0, "secret"},
	{"vault bao", "", "-token", formNext, 0, "token"},
	{"vault bao", "login", "-token", formNext, 0, "token"},
	{"consul nomad", "", "-token --token", formNext, 0, "token"},
	{"virsh", "", "--base64", formNext, 0, "secret"},
	// Clouds
	{"az", "login", "-p", formNext, 0, "password"},
	{"az", "", "--account-key --sas-token --admin-password --client-secret", formNext, 0, "key"},
	{"az", "secret", "--value", formNext, 0, "secret"},
	{"aws", "", "--secret-string --plaintext --master-user-password --temporary-password --password", formNext, 0, "secret"},
	{"gcloud", "", "--access-token --root-password", formNext, 0, "token"},
	{"s3cmd", "", "--secret_key --access_key", formNext, 0, "key"},
	{"doctl", "", "-t --access-token", formNext, 0, "token"},
	{"flyctl fly", "", "-t --access-token", formNext, 0, "token"},
	{"vercel vc", "", "-t --token", formNext, 0, "token"},
	{"netlify", "", "--auth -a", formNext, 0, "token"},
	{"ibmcloud", "login", "-p --apikey", formNext, 0, "password"},
	{"cf", "login", "-p", formNext, 0, "password"},
	{"openstack", "", "--os-password --password", formNext, 0, "password"},
	{"heroku", "", "--auth", formNext, 0, "token"},
	{"pulumi", "set", "--secret", formSecond, 0, "secret"},
	// Packages, code and builds
	{"twine", "", "-p", formNext, 0, "password"},
	{"flit poetry", "", "-p", formNext, 0, "password"},
	{"nuget dotnet choco", "", "-k --api-key -ApiKey -Password", formNext, 0, "key"},
	{"npm pnpm yarn", "", "--otp --_auth", formNext, 0, "token"},
	{"gem", "", "-k", formNext, 0, "key"},
	{"gh", "secret", "-b --body", formBoth, 0, "secret"},
	{"gh glab hub", "auth", "--with-token --stdin", formPiped, 0, "token"},
	{"glab", "login", "-t", formNext, 0, "token"},
	{"glab", "variable", "-v --value", formNext, 0, "secret"},
	{"jfrog jf", "", "--apikey --access-token", formNext, 0, "token"},
	{"sonar-scanner", "", "-Dsonar.login -Dsonar.token -Dsonar.password", formNext, 0, "token"},
	{"travis", "", "--github-token -g", formNext, 0, "token"},
	{"jenkins-cli jenkins-cli.jar", "", "-auth", formPair, ':', "token"},
	{"codecov", "", "-t --token", formNext, 0, "token"},
	{"coveralls", "", "-repotoken", formNext, 0, "token"},
	// Mail and the rest
	{"swaks", "", "-ap --auth-password", formNext, 0, "password"},
	{"sendemail sendEmail", "", "-xp", formNext, 0, "password"},
	{"msmtp mutt neomutt", "", "--passwordeval", formNext, 0, "password"},
	{"imapsync", "", "--password1 --password2", formNext, 0, "password"},
	{"airflow superset", "", "-p --password", formNext, 0, "password"},
	{"wp", "", "--user_pass --dbpass --admin_password", formNext, 0, "password"},
	{"drush", "", "--account-pass", formNext, 0, "password"},
	{"tailscale", "", "--auth-key --authkey", formNext, 0, "key"},
	{"cloudflared ngrok", "", "--token --authtoken", formNext, 0, "token"},
	{"hydra medusa", "", "-p", formNext, 0, "password"},
	{"sqlmap", "", "--auth-cred", formPair, ':', "password"},
	{"minio mc", "", "--secret-key", formNext, 0, "key"},
	{"hashcat john", "", "--potfile-pass", formNext, 0, "password"},
	{"op", "", "--session", formNext, 0, "token"},
	{"bw", "", "--session --passwordenv", formNext, 0, "token"},
}

// programTable is the rows by the names of programs.
type programTable struct {
	options map[string][]option
	heads   [256]bool // first letters of names
	longest int       // name
}

// knownPrograms is made when it is first needed: it would be a twentieth of what
// `hookmux --version` costs.
var knownPrograms = sync.OnceValue(func() *programTable {
	t := &programTable{options: map[string][]option{}}
	for _, row := range programRows {
		for name := range strings.FieldsSeq(row.programs) {
			t.heads[name[0]] = true
			t.longest = max(t.longest, len(name)+len(".exe"))
			for flag := range strings.FieldsSeq(row.flags) {
				t.options[name] = append(t.options[name],
					option{flag: flag, sub: row.sub, form: row.form, sep: row.sep, kind: row.kind})
			}
		}
	}
	return t
})

// beginsOption reports whether a byte behind a dash can begin an option: a single
// dash also begins -password, -Token, -apiKey of any program.
func beginsOption(c byte) bool {
	return c == '-' || c < 0x80 && chars.IsAlnum(c) && !chars.IsDigit(c)
}

// form says how an option carries its secret.
type form uint8

const (
	formNext   form = iota // -p VALUE or --opt=VALUE
	formGlued              // -pVALUE
	formBoth               // -p VALUE or -pVALUE
	formPair               // -u USER:VALUE; the option's sep stands between
	formPass               // -passin pass:VALUE
	formSecond             // -nb USER VALUE
	formThird              // -b FILE USER VALUE
	formPiped              // echo VALUE | tool --opt
	formPlain              // the first word behind it that is no option and no number
	formEqual              // --opt=NAME=VALUE or --opt NAME=VALUE
)

// option is one way in which a program takes a secret.
type option struct {
	flag string
	sub  string // a word that must stand between the program and the option
	form form
	sep  byte
	kind string
}
