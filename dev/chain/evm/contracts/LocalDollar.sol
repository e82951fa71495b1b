// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface ContractWallet {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// A worthless token for the local chain. It moves by signed authorizations (EIP-3009), approves by signature (EIP-2612)
/// and refuses in the very words of the real dollar token, because payment libraries tell refusals apart by those words. Anyone may mint.
/// Its code is placed at an address without running a constructor: nothing here depends on one.
contract LocalDollar {
    string public constant version = "2";
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    // Half of the curve's order: the upper half of s is the same signature written a second way.
    uint256 private constant S_MAX = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    mapping(address => uint256) public nonces;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    function name() public pure virtual returns (string memory) {
        return "USDC";
    }

    /// Computed at every call: the code stands at whatever address and chain it was placed on.
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256(bytes(name())), keccak256(bytes(version)), block.chainid, address(this))
        );
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allow(msg.sender, spender, value);
        return true;
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        permit(owner, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    /// Contract wallets are asked themselves, as the real token does.
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature) public {
        require(deadline >= block.timestamp, "FiatTokenV2: permit is expired");
        bytes32 message = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner]++, deadline));
        bytes32 hash = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message));
        require(isSigned(owner, hash, signature), "EIP2612: invalid signature");
        allow(owner, spender, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(value <= allowance[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        Signed memory signed = Signed(from, to, value, validAfter, validBefore, nonce);
        settle(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, signed, v, r, s);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes calldata signature
    ) external {
        (uint8 v, bytes32 r, bytes32 s) = parts(signature);
        Signed memory signed = Signed(from, to, value, validAfter, validBefore, nonce);
        settle(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, signed, v, r, s);
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        Signed memory signed = Signed(from, to, value, validAfter, validBefore, nonce);
        receiveSigned(signed, v, r, s);
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes calldata signature
    ) external {
        (uint8 v, bytes32 r, bytes32 s) = parts(signature);
        receiveSigned(Signed(from, to, value, validAfter, validBefore, nonce), v, r, s);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancel(authorizer, nonce, v, r, s);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes calldata signature) external {
        (uint8 v, bytes32 r, bytes32 s) = parts(signature);
        cancel(authorizer, nonce, v, r, s);
    }

    struct Signed {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    /// Only the payee may use it, so that nobody else can take the money out of a payee's own transaction.
    function receiveSigned(Signed memory signed, uint8 v, bytes32 r, bytes32 s) private {
        require(signed.to == msg.sender, "FiatTokenV2: caller must be the payee");
        settle(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, signed, v, r, s);
    }

    function settle(bytes32 typeHash, Signed memory signed, uint8 v, bytes32 r, bytes32 s) private {
        require(block.timestamp > signed.validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < signed.validBefore, "FiatTokenV2: authorization is expired");
        requireUnused(signed.from, signed.nonce);
        requireSigned(signed.from, keccak256(abi.encode(typeHash, signed)), v, r, s);
        authorizationState[signed.from][signed.nonce] = true;
        emit AuthorizationUsed(signed.from, signed.nonce);
        move(signed.from, signed.to, signed.value);
    }

    function cancel(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) private {
        requireUnused(authorizer, nonce);
        requireSigned(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), v, r, s);
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function requireUnused(address authorizer, bytes32 nonce) private view {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    /// Only keys sign here. An account with code would have to be asked itself, and this token does not.
    function requireSigned(address signer, bytes32 message, uint8 v, bytes32 r, bytes32 s) private view {
        require(signer.code.length == 0, "FiatTokenV2: invalid signature");
        require(uint256(s) <= S_MAX, "ECRecover: invalid signature 's' value");
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        address found = ecrecover(keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message)), v, r, s);
        require(found != address(0), "ECRecover: invalid signature");
        require(found == signer, "FiatTokenV2: invalid signature");
    }

    function isSigned(address owner, bytes32 hash, bytes memory signature) private view returns (bool) {
        if (owner.code.length > 0) {
            return ContractWallet(owner).isValidSignature(hash, signature) == ContractWallet.isValidSignature.selector;
        }
        if (signature.length != 65) return false;
        (bytes32 r, bytes32 s) = (0, 0);
        assembly {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
        }
        if (uint256(s) > S_MAX) return false;
        address found = ecrecover(hash, uint8(signature[64]), r, s);
        return found != address(0) && found == owner;
    }

    function allow(address owner, address spender, uint256 value) private {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function parts(bytes calldata signature) private pure returns (uint8 v, bytes32 r, bytes32 s) {
        require(signature.length == 65, "ECRecover: invalid signature length");
        return (uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }

    function move(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf[from], "ERC20: transfer amount exceeds balance");
        unchecked {
            balanceOf[from] -= value;
        }
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
